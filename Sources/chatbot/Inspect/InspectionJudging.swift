import CallCheck
import FileSource
import Media
import NIOCore
import Recorder

/// Feeds the judge with the frames of recordings, as fast as it accepts them.
struct InspectionJudging {
  let peers: [InspectedPeer]
  let room: String
  let expectation: CheckExpectation
  let rules: RuleList
  /// Whether the number of peers is a rule.
  let wantsPeers: Bool
  let console: Console

  /// The report, and the recordings that could not be read to their end, a sentence each.
  typealias Result = (report: CheckReport, problems: [String])

  /// The progress of a peer's samples.
  private struct CountCursor {
    let counts: RecordedCounts
    /// The time of the next sample on the inspection's timeline, in units of `MediaTimebase.rate`.
    var next: Int64
  }

  /// The interval of samples: one second.
  private static let second = Int64(MediaTimebase.rate)

  func run() -> Result {
    let origin = ContinuousClock.now
    func instant(_ units: Int64) -> ContinuousClock.Instant { origin + MediaTimebase.duration(units) }
    var options = CallJudge.Options(start: origin, room: room)
    options.subject = .recording
    options.expected = expectation
    options.rules = rules
    let addsPeers = wantsPeers && !rules.isGiven("peers")
    if addsPeers, let rule = try? Rule("peers >= \(expectation.peers)") { options.rules.given.insert(rule, at: 0) }
    options.maximumPeers = Inspection.maximumPeers
    let judge = CallJudge(options)

    var problems: [String] = []
    var feed = InspectionFeed(peers)
    var countCursors = peers.map { peer in
      CountCursor(counts: RecordedCounts(peer.manifest), next: peer.offset + Self.second)
    }
    var progress = InspectionProgress(
      recordings: peers.count, end: peers.map { $0.offset + $0.estimatedEnd }.max() ?? 0, console: console)
    while true {
      do throws(InspectionFeed.Failure) {
        guard let item = try feed.next() else { break }
        let peer = peers[item.peer]
        while !countCursors[item.peer].counts.isEmpty, countCursors[item.peer].next <= item.time {
          let time = countCursors[item.peer].next
          countCursors[item.peer].next += Self.second
          let sample = countCursors[item.peer].counts.sample(at: RecordedTime.seconds(time - peer.offset))
          judge.sample(sample, of: peer.id, at: instant(time))
        }
        let now = instant(item.time)
        judge.receive(item.frame.encoded(owner: peer.id, arrival: now), from: peer.id, at: now)
        progress.show(item.time)
      } catch {
        let path = RecordedName.shown(peers[error.peer].recording.fileName)
        problems.append("“\(path)” could not be read to its end: \(error.reason).")
      }
    }
    var end: Int64 = 0
    for (index, peer) in peers.enumerated() {
      var last = max(0, feed.end(of: index) ?? 0)
      for track in peer.manifest?.tracks ?? [] where track.unwritten > 0 {
        guard let kind = MediaKind(rawValue: track.kind),
          let units = RecordedTime.units(track.end + track.unwritten)
        else { continue }
        last = max(last, peer.offset + units)
        judge.mediaContinued(kind, of: peer.id, until: instant(peer.offset + units))
      }
      end = max(end, last)
      if !countCursors[index].counts.isEmpty {
        judge.sample(countCursors[index].counts.sample(at: nil), of: peer.id, at: instant(last))
      }
      for message in RecordedChat(beside: peer.recording).messages {
        guard let units = RecordedTime.units(message.time) else { continue }
        judge.receive(
          .message(from: message.from, name: message.name, text: message.text), of: peer.id,
          at: instant(peer.offset + units))
      }
      judge.step(.departed(peer.departure.cause, peer.departure.sentence), of: peer.id, at: instant(last))
    }
    progress.clear()
    var report = judge.report(at: instant(end))
    if addsPeers, rules.includesDefaults, !report.rules.isEmpty {
      // Among the default rules it is one of them.
      report.rules[0].reason = "All expected peers were present."
      report.rulesAreDefault = rules.given.isEmpty
    }
    return (report, problems)
  }
}
