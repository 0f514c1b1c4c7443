package import BotPeer
package import Media
internal import Synchronization

/// What a viewer receives beyond the counters of its connections: when the first frame came, and freezes of the video, which are
/// gaps between frames. Pure: frames and times are passed in.
package struct ReceptionLog: Sendable, Hashable {
  /// The video of one sender.
  private struct Video: Hashable {
    var last: ContinuousClock.Instant
    /// The usual interval between frames, in seconds; nil before the second frame.
    var interval: Double?

    /// Whether a gap in seconds is a freeze: more than three usual intervals, and 150 ms longer than one, as in the statistics of
    /// browsers (freezeCount).
    func isFreeze(_ gap: Double) -> Bool { interval.map { gap > max(3 * $0, $0 + 0.15) } ?? false }
  }

  /// When the first frame of any kind arrived.
  package private(set) var firstFrame: ContinuousClock.Instant?
  /// Whether a frame of video arrived; without one, nothing is known of freezes.
  package private(set) var hasVideo = false
  package private(set) var freezes = 0
  /// The total and the longest duration of freezes, in seconds.
  package private(set) var frozenTime = 0.0
  package private(set) var longestFreeze = 0.0
  private var videos: [TrackID: Video] = [:]

  /// The weight of a new interval in the usual one.
  private static let gain = 1.0 / 16
  /// The maximum number of videos that are observed.
  private static let maximumVideos = 1_000

  package init() {}

  /// Records a frame.
  ///
  /// - Parameter arrival: When it was complete.
  package mutating func received(_ track: TrackID, at arrival: ContinuousClock.Instant) {
    firstFrame = firstFrame ?? arrival
    guard track.kind == .video else { return }
    hasVideo = true
    guard videos[track] != nil || videos.count < Self.maximumVideos else { return }
    guard var video = videos[track] else { return videos[track] = Video(last: arrival) }
    let gap = max(0, (arrival - video.last) / .seconds(1))
    if video.isFreeze(gap) {
      add(gap)
    } else {
      video.interval = video.interval.map { $0 + Self.gain * (gap - $0) } ?? gap
    }
    video.last = arrival
    videos[track] = video
  }

  /// Records that a sender's connection has ended. If it was closed, no frame of theirs is missing. Otherwise their video has
  /// frozen until its next frame.
  package mutating func ended(_ participant: ParticipantID, _ ending: CloseReason) {
    switch ending.cause {
    case .connectionLost, .failed: return
    case .closedByUs, .closedByParticipant: break
    }
    videos = videos.filter { $0.key.participant != participant }
  }

  /// Returns the log with the freezes that have not ended yet.
  package func closed(at now: ContinuousClock.Instant) -> ReceptionLog {
    var log = self
    for video in videos.values {
      let gap = (now - video.last) / .seconds(1)
      if video.isFreeze(gap) { log.add(gap) }
    }
    return log
  }

  private mutating func add(_ gap: Double) {
    freezes += 1
    frozenTime += gap
    longestFreeze = max(longestFreeze, gap)
  }
}

/// Observes the frames of a viewer on the thread that receives them, and discards them.
final class ReceptionCounter: MediaSink {
  private let state = Mutex(ReceptionLog())

  func receive(_ event: MediaEvent, of participant: ParticipantID, now: ContinuousClock.Instant) {
    guard case .frame(let frame) = event else { return }
    state.withLock { $0.received(frame.track, at: frame.arrival) }
  }

  func ended(_ participant: ParticipantID, _ ending: CloseReason) {
    state.withLock { $0.ended(participant, ending) }
  }

  func log(until now: ContinuousClock.Instant) -> ReceptionLog { state.withLock { $0.closed(at: now) } }
}
