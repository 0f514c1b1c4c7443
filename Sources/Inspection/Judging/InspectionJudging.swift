import CallCheck
import FileSource
import Media
import Recorder

/// Feeds the judge with the frames of recordings, as fast as it accepts them.
struct InspectionJudging {
  let recordings: [InspectedRecording]
  let room: String
  let expectation: CheckExpectation
  let rules: RuleList
  /// Whether the number of peers is a rule.
  let wantsPeers: Bool

  /// The report, and the recordings that could not be read to their end, a sentence each.
  typealias Result = (report: CheckReport, problems: [String])

  /// The progress of a recording's samples.
  private struct CountCursor {
    let counts: RecordedCounts
    /// The time of the next sample on the inspection's timeline, in units of `MediaTimebase.rate`.
    var next: Int64
  }

  /// The interval of samples: one second.
  private static let second = Int64(MediaTimebase.rate)

  /// - Parameter progress: Called after each frame.
  func run(progress: (RecordingInspection.Progress) -> Void) -> Result {
    let origin = ContinuousClock.now
    func instant(_ units: Int64) -> ContinuousClock.Instant { origin + MediaTimebase.duration(units) }
    var options = CallJudge.Options(start: origin, room: room)
    options.subject = .recording
    options.expected = expectation
    options.rules = rules
    let addsPeers = wantsPeers && !rules.isGiven("peers")
    if addsPeers, let rule = try? Rule("peers >= \(expectation.peers)") { options.rules.given.insert(rule, at: 0) }
    options.maximumPeers = RecordingInspection.maximumPeers
    let judge = CallJudge(options)

    var problems: [String] = []
    var feed = InspectionFeed(recordings)
    var begun = [Bool](repeating: false, count: recordings.count)
    var pauses = recordings.map { RecordedPauses($0.manifest) }
    // When the last frame of each recording was.
    var lastTimes = [Int64](repeating: 0, count: recordings.count)
    var countCursors = recordings.map { recording in
      CountCursor(
        counts: RecordedCounts(recording.manifest, of: recording.stream), next: recording.offset + Self.second)
    }
    let estimatedEnd = MediaTimebase.duration(recordings.map { $0.offset + $0.estimatedEnd }.max() ?? 0)
    while true {
      do throws(InspectionFeed.Failure) {
        guard let item = try feed.next() else { break }
        let recording = recordings[item.recording]
        if !begun[item.recording] {
          begun[item.recording] = true
          if recording.manifest == nil { judge.causesAreUnknown(of: recording.id) }
          if let name = recording.manifest?.name { judge.announced(recording.id, name: name, onlyReceives: false) }
          judge.receive(.described(recording.stream), of: recording.id, at: instant(item.time))
        }
        while !countCursors[item.recording].counts.isEmpty, countCursors[item.recording].next <= item.time {
          let time = countCursors[item.recording].next
          countCursors[item.recording].next += Self.second
          let sample = countCursors[item.recording].counts.sample(
            at: RecordedTime.seconds(time - recording.offset),
            since: RecordedTime.seconds(time - Self.second - recording.offset))
          judge.sample(sample, of: recording.id, at: instant(time))
        }
        if item.frame.gap?.reason == .streamEnded, item.time - lastTimes[item.recording] > Self.second {
          // The stream ended, and its tracks are described again.
          judge.receive(
            .described(recording.stream.ended), of: recording.id, at: instant(lastTimes[item.recording]))
          judge.receive(.described(recording.stream), of: recording.id, at: instant(item.time))
        }
        for start in pauses[item.recording].ended(before: item.time - recording.offset) {
          judge.recordingPaused(
            of: recording.id, stream: recording.stream.number, at: instant(recording.offset + start))
        }
        lastTimes[item.recording] = item.time
        let now = instant(item.time)
        judge.receive(item.frame.encoded(as: recording.stream, arrival: now), from: recording.id, at: now)
        progress(.judging(MediaTimebase.duration(item.time), end: estimatedEnd))
      } catch {
        let path = RecordedName.shown(recordings[error.recording].recording.fileName)
        problems.append("“\(path)” could not be read to its end: \(error.reason).")
      }
    }
    judge.endMedia()
    var ends: [Int64] = []
    for (index, recording) in recordings.enumerated() {
      var last = max(0, feed.end(of: index) ?? 0)
      // Tracks of a recorder that was killed reach the disk at different times.
      if begun[index], recording.wasInterrupted {
        judge.endIsUnknown(of: recording.id, stream: recording.stream.number)
      }
      for track in recording.manifest?.tracks ?? [] where track.unwritten > 0 && !recording.wasInterrupted {
        guard let kind = MediaKind(rawValue: track.kind),
          let units = RecordedTime.units(track.end + track.unwritten)
        else { continue }
        last = max(last, recording.offset + units)
        judge.mediaContinued(
          kind, of: recording.id, stream: recording.stream.number, until: instant(recording.offset + units))
      }
      ends.append(last)
      if !countCursors[index].counts.isEmpty {
        judge.sample(countCursors[index].counts.sample(at: nil), of: recording.id, at: instant(last))
      }
    }
    for streams in recordings.participants {
      // Each message is beside the recording of each stream.
      if let recording = streams.first.map({ recordings[$0] }) {
        for message in RecordedChat(beside: recording.recording).messages {
          guard let units = RecordedTime.units(message.time) else { continue }
          judge.receive(
            .message(from: message.from, name: message.name, text: message.text), of: recording.id,
            at: instant(recording.offset + units))
        }
      }
      // A further stream that ended before the others did not freeze.
      if streams.count > 1 {
        for index in streams where recordings[index].stream.number > 1 {
          let stream = recordings[index].stream
          judge.receive(.described(stream.ended), of: stream.owner, at: instant(ends[index]))
        }
      }
      guard let first = streams.first, let last = streams.map({ ends[$0] }).max() else { continue }
      let (cause, sentence) = recordings[first].departure
      judge.step(.departed(cause, sentence), of: recordings[first].id, at: instant(last))
    }
    let end = ends.max() ?? 0
    var report = judge.report(at: instant(end))
    if addsPeers, rules.includesDefaults, !report.rules.isEmpty {
      // Among the default rules it is one of them.
      report.rules[0].reason = "All expected peers were present."
      report.rulesAreDefault = rules.given.isEmpty
    }
    return (report, problems)
  }
}

extension MediaStream {
  /// What a description says of the stream when it has ended.
  fileprivate var ended: MediaStream {
    var stream = self
    stream.tracks = [:]
    return stream
  }
}
