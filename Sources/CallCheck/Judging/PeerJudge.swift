import Media
import MediaWorker
import Pattern

/// Judges one peer: receives its events in order, and reports the result at any time.
///
/// What concerns the connection is judged here, and the media of each stream by a ``StreamJudge``.
struct PeerJudge {
  let id: ParticipantID
  private let wallClock: Double?
  private let step: Double
  private let thumbnails: Int
  private let worker: MediaWorker
  private(set) var notes = Diagnosis.Notes()
  var counter = ConnectionCounter()
  /// The judge of the first stream.
  var first: StreamJudge
  /// The judges of the further streams, by their numbers: of those from which anything arrived, or that were described.
  var further: [Int: StreamJudge] = [:]
  /// The numbers of streams beyond the limit.
  private(set) var streamsNotJudged: Set<Int> = []
  var data: DataReport?
  private(set) var messages: [MessageReport] = []
  private(set) var furtherMessages = 0

  /// Creates the judge of a peer.
  ///
  /// - Parameters:
  ///   - wallClock: seconds since 1970 at the check's start; nil if not known.
  ///   - step: the step of the timeline, in seconds.
  ///   - worker: decodes what is not decoded in this process.
  init(id: ParticipantID, wallClock: Double?, step: Double, thumbnails: Int, worker: MediaWorker) {
    self.worker = worker
    self.id = id
    self.wallClock = wallClock
    self.step = step
    self.thumbnails = thumbnails
    first = StreamJudge(number: 1, wallClock: wallClock, step: step, thumbnails: thumbnails, worker: worker)
  }

  // MARK: Streams

  /// All streams in the order of their numbers.
  var streams: [StreamJudge] { [first] + further.values.sorted { $0.number < $1.number } }

  /// Far more streams beyond the limit than any peer has.
  private static let maximumNotJudged = 1_000

  private mutating func change(_ number: Int, _ change: (inout StreamJudge) -> Void) {
    if number == 1 { return change(&first) }
    guard (2...StreamReport.maximumCount).contains(number) else {
      if streamsNotJudged.count < Self.maximumNotJudged { streamsNotJudged.insert(number) }
      return
    }
    change(
      &further[
        number,
        default: StreamJudge(
          number: number, wallClock: wallClock, step: step, thumbnails: thumbnails, worker: worker)])
  }

  // MARK: Events

  /// Records that nothing says why media is missing, as for the file of another program.
  mutating func causesAreUnknown() { first.video.knowsCauses = false }

  /// Records that each track of a stream ends with its own last packet.
  mutating func endIsUnknown(ofStream stream: Int) { change(stream) { $0.knowsEnd = false } }

  mutating func receive(_ message: MessageReport) {
    if messages.count < MessageReport.maximumCount { messages.append(message) } else { furtherMessages += 1 }
  }

  /// Records that a section was rejected; what is reported later of the same section replaces it.
  mutating func receive(_ section: RejectedSection) {
    notes.rejected.removeAll { $0.section == section.index }
    if notes.rejected.count < Self.maximumRejections { notes.rejected.append(RejectionReport(section)) }
  }

  /// Records which kinds of media the peer sends according to its description.
  mutating func mediaAnnounced(_ kinds: Set<MediaKind>) { notes.announcedMedia = kinds }

  /// Far more sections than any call has.
  private static let maximumRejections = 16

  mutating func step(_ step: CallStep, at time: Double) {
    func first(_ position: WritableKeyPath<CallSteps, Double?>) {
      notes.steps[keyPath: position] = notes.steps[keyPath: position] ?? roundedForReport(time)
    }
    if case .departed(let cause, let sentence) = step {
      notes.departure = notes.departure ?? .init(time: roundedForReport(time), cause: cause, sentence: sentence)
      self.first.release()
      for number in further.keys {
        further[number]?.release()
        // A peer that rejoins may never send it again.
        further[number]?.end(at: time)
      }
      return
    }
    switch step {
    case .appeared:
      // A peer that rejoins is present again.
      notes.departure = nil
    case .offerSent: first(\.offerSent)
    case .offerReceived: first(\.offerReceived)
    case .answerSent: first(\.answerSent)
    case .answerReceived: first(\.answerReceived)
    case .localCandidate(let kind):
      first(\.firstLocalCandidate)
      notes.steps.localCandidates?[kind.rawValue, default: 0] += 1
    case .remoteCandidate(let kind):
      first(\.firstRemoteCandidate)
      notes.steps.remoteCandidates?[kind.rawValue, default: 0] += 1
    case .checksBegun: first(\.checksBegun)
    case .checkAnswered: first(\.firstCheckAnswered)
    case .iceConnected: first(\.iceConnected)
    case .dtlsConnected:
      first(\.iceConnected)
      first(\.dtlsConnected)
    case .firstPacket: first(\.firstPacket)
    case .departed: break
    }
    // Whichever step happens first, the call had begun by then.
    first(\.seen)
  }

  mutating func receive(_ description: MediaStream, at time: Double) {
    change(description.number) { $0.receive(description, at: time) }
  }

  mutating func receive(_ report: ClockReport, arrived: Double) {
    change(report.stream) { $0.receive(report, arrived: arrived) }
  }

  mutating func receive(_ sample: ConnectionSample, at time: Double) {
    var counts: [Int: [MediaKind: TrackStatistics]] = [1: [:]]
    for (track, statistics) in sample.received where track.stream == 1 || statistics.hasArrived {
      counts[track.stream, default: [:]][track.kind] = statistics
    }
    for (number, counts) in counts { change(number) { $0.receive(counts, sample.timing, at: time) } }
    if let bitrate = counter.receive(sample, at: time) { first.buckets[time].sentBitrate.add(bitrate) }
    if let target = sample.sent?.targetBitrate { first.buckets[time].targetBitrate.add(Double(target)) }
    notes.unreachableReason = sample.unreachableReason
    if sample.checksSent > 0 { step(.checksBegun, at: time) }
    if sample.checksAnswered > 0 { step(.checkAnswered, at: time) }
  }

  /// Records a frame of the pattern that we sent in one of our streams. A stream that is returned has the same number.
  mutating func sent(_ videoFrame: SentFrame, size: VideoSize, stream: Int) {
    if stream == 1 { return first.sent(videoFrame, size: size) }
    further[stream]?.sent(videoFrame, size: size)
  }

  mutating func endMedia() {
    first.endMedia()
    for number in further.keys { further[number]?.endMedia() }
  }

  mutating func receive(_ frame: EncodedFrame, arrived: Double, sent: SentFrames) {
    mediaArrived(from: arrived, until: arrived)
    change(frame.stream) { $0.receive(frame, arrived: arrived, sent: sent) }
    if frame.stream == 1 {
      notes.steps.firstFrame = first.firstFrame
      notes.steps.firstSound = first.firstSound
      notes.hasUndecodable = first.hasUndecodable
      notes.undecodableReason = first.video.decodeFailure ?? first.audio.decodeFailure
      notes.unverified = first.unverified
      notes.waitsForKeyframe = first.video.beforeKeyframe > 0
    } else if !notes.hasFurtherStream, let stream = further[frame.stream] {
      notes.hasFurtherStream = stream.hasMedia
      notes.hasUndecodable = notes.hasUndecodable || stream.hasUndecodable
      notes.waitsForKeyframe = notes.waitsForKeyframe || stream.video.beforeKeyframe > 0
    }
  }

  /// Records that media of a kind continued until a time although it is no longer available.
  mutating func mediaContinued(_ kind: MediaKind, ofStream stream: Int, until time: Double) {
    change(stream) { $0.unavailableMediaEnd[kind] = max(time, $0.unavailableMediaEnd[kind] ?? time) }
  }

  /// Records that the recording of a stream was paused from a time on, until its next media.
  mutating func recordingPaused(ofStream stream: Int, at time: Double) {
    change(stream) { $0.recordingPaused(at: time) }
  }

  /// Records skipped frames.
  mutating func receive(_ videoFrames: SkippedFrames, first: Double, last: Double) {
    mediaArrived(from: first, until: last)
    change(videoFrames.stream) { $0.receive(videoFrames, first: first, last: last) }
  }

  /// Records that media arrived, of any stream.
  private mutating func mediaArrived(from first: Double, until last: Double) {
    // A peer that sends again is present again.
    if let departure = notes.departure, last > departure.time { notes.departure = nil }
    notes.steps.firstPacket = min(notes.steps.firstPacket ?? .infinity, roundedForReport(first))
  }
}

extension TrackStatistics {
  /// Whether a packet arrived, or is known to be lost.
  fileprivate var hasArrived: Bool { packetsReceived > 0 || packetsLost > 0 }
}
