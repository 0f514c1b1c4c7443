import Media

/// Converts media times to the sender's wall clock, by the sender reports of each track.
///
/// Both tracks share the wall clock: if it was set, as the reports of one track show, older reports of the other track
/// cannot be compared with newer ones.
struct SenderClock: Sendable {
  /// What the reports say about a media time.
  enum Reading: Sendable, Hashable {
    /// Seconds by the sender's wall clock since an origin that both tracks share.
    case known(Double)
    /// A later report can say it.
    case pending
    case unknown
  }

  /// Delays of reports are compared over this time, in seconds: clocks drift.
  private static let delayMemory = 60.0

  /// The wall clock that the times of both tracks count from.
  private var origin: UInt64?
  private var audio = TrackClock()
  private var video = TrackClock()

  mutating func receive(_ report: ClockReport, arrived: Double) {
    guard report.ntp != 0 else { return }
    let origin = self.origin ?? report.ntp
    self.origin = origin
    let wallClock = Double(Int64(bitPattern: report.ntp &- origin)) / 4_294_967_296
    let since = arrived - Self.delayMemory
    let leastDelay = [audio.leastDelay(since: since), video.leastDelay(since: since)].compactMap { $0 }.min()
    let received = TrackClock.Report(time: report.time, wallClock: wallClock, arrived: arrived, leastDelay: leastDelay)
    switch report.codec.kind {
    case .audio: if audio.receive(received) { video = TrackClock() }
    case .video: if video.receive(received) { audio = TrackClock() }
    }
  }

  /// Notes that a frame arrived.
  mutating func note(_ time: MediaTime, _ kind: MediaKind, arrived: Double) {
    switch kind {
    case .audio: audio.note(time, arrived: arrived)
    case .video: video.note(time, arrived: arrived)
    }
  }

  /// Returns for how long a media clock stood still between the reports around two consecutive frames; nil as long as
  /// that is not known.
  ///
  /// - Parameters:
  ///   - previous: when the earlier frame arrived.
  ///   - next: the media time of the later frame.
  ///   - arrived: when the later frame arrived.
  func standstill(
    after previous: Double, before next: MediaTime, _ kind: MediaKind, arrived: Double
  ) -> TrackClock.Standstill? {
    switch kind {
    case .audio: audio.standstill(after: previous, before: next, arrived: arrived)
    case .video: video.standstill(after: previous, before: next, arrived: arrived)
    }
  }

  /// Returns the wall clock at the media time of a frame that arrived at a time.
  ///
  /// - Parameter isFinal: whether to decide without later reports; then the result is never `pending`.
  func reading(at time: MediaTime, _ kind: MediaKind, arrived: Double, isFinal: Bool) -> Reading {
    switch kind {
    case .audio: audio.reading(at: time, arrived: arrived, isFinal: isFinal)
    case .video: video.reading(at: time, arrived: arrived, isFinal: isFinal)
    }
  }
}
