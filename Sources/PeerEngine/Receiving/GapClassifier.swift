package import Media

/// Gives each gap between two frames of a track its name.
///
/// It is told what becomes of packets and frames as they are taken in order, and asked once for each frame that is
/// handed on. Where several reasons meet, the one that explains the others is named: muted, then a new beginning or a
/// broken connection, then a machine without time, then loss, then a sender that sent nothing, then a repair that took long.
package struct GapClassifier: Sendable {
  /// What is known of a frame that is handed on.
  package struct Frame: Sendable, Hashable {
    /// Its place on the track's time line.
    package var time: MediaTime
    /// How long it plays, in ticks; 0 for a frame, of which nobody knows.
    package var duration: Int
    /// Whether it says only that the sender is silent.
    package var isSilence: Bool
    package var arrival: MonotonicInstant

    package init(time: MediaTime, duration: Int = 0, isSilence: Bool = false, arrival: MonotonicInstant) {
      self.time = time
      self.duration = duration
      self.isSilence = isSilence
      self.arrival = arrival
    }
  }

  /// A packet that had been missing for less than this when its repeat came delayed nothing worth telling.
  package static let shortestDelay: Duration = .milliseconds(250)
  /// The shortest packet of Opus: silence that is skipped lasts as long at least.
  package static let shortestAudioHole: Duration = .microseconds(2_500)
  /// Media time that audio may skip: less is a sender's unsteady clock, not a pause.
  package static let maximumAudioHole: Duration = .milliseconds(60)
  /// Media time between two frames that is no pause: a still image needs few.
  package static let maximumVideoFrameHole: Duration = .seconds(1)
  /// How much longer than its media time the way to the next frame may be. A congested path delays as well, but never so
  /// long; who stays away longer with timestamps that stop had stopped.
  package static let maximumStandstill: Duration = .seconds(5)
  /// How long after datagrams were dropped here a loss is treated as that.
  package static let maximumOverload: Duration = .seconds(1)
  /// How long after a broken connection the first loss is treated as its work.
  package static let maximumInterruption: Duration = .seconds(10)

  private let kind: MediaKind
  private var last: Frame?
  private var packetsLost = 0
  private var framesDropped = 0
  /// Whether frames were dropped of which nothing was missing.
  private var droppedWholeFrames = false
  /// How long the longest awaited packet had been missing.
  private var delay = Duration.zero
  private var isOtherSource = false
  private var interruption: MonotonicInstant?
  private var overload: MonotonicInstant?
  private var isUnread = false
  private var muting: MonotonicInstant?

  package init(kind: MediaKind) {
    self.kind = kind
  }

  /// The next packets in order were given up.
  package mutating func packetsWereLost(_ count: Int) { packetsLost += count }

  /// A frame came, whole or in part, and could not be used.
  package mutating func frameWasDropped(isWhole: Bool) {
    framesDropped += 1
    if isWhole { droppedWholeFrames = true }
  }

  /// A packet was handed on that had been requested, and came `duration` after it was missed.
  package mutating func packetWasAwaited(_ duration: Duration) { delay = max(delay, duration) }

  /// The frames that follow are of another source, or of one that began its numbers again.
  package mutating func sourceChanged() { isOtherSource = true }

  /// The connection was seen to be broken.
  package mutating func connectionWasInterrupted(now: MonotonicInstant) { interruption = now }

  /// Datagrams came that were dropped because this machine did not read them in time.
  package mutating func datagramsWereDropped(now: MonotonicInstant) { overload = now }

  /// What came since the last frame was left unread.
  package mutating func wasUnread() { isUnread = true }

  /// The sender said that it does not send.
  package mutating func wasMuted(now: MonotonicInstant) { muting = muting ?? now }

  /// The gap before a frame that is handed on now; nil when it follows the one before it.
  package mutating func gap(before frame: Frame, now: MonotonicInstant) -> MediaGap? {
    defer {
      last = frame
      if packetsLost > 0 || framesDropped > 0 || delay > .zero { clear() }
      isOtherSource = false
    }
    let hasLoss = packetsLost > 0 || framesDropped > 0
    guard let reason = reason(before: frame, hasLoss: hasLoss) else { return nil }
    var gap = MediaGap(reason, packetsLost: packetsLost, framesDropped: framesDropped)
    gap.delay = delay >= Self.shortestDelay ? delay : .zero
    if reason == .lost, packetsLost > 0 { gap.delay = max(gap.delay, now - frame.arrival) }
    return gap
  }

  private mutating func reason(before frame: Frame, hasLoss: Bool) -> MediaGap.Reason? {
    if let muting, frame.arrival > muting {
      self.muting = nil
      interruption = nil
      return .muted
    }
    if isUnread {
      isUnread = false
      return .overloaded
    }
    let isBroken = interruption.map { frame.arrival >= $0 } ?? false
    if isOtherSource || hasLoss {
      if isBroken { interruption = nil }
      if isBroken || (isOtherSource && last != nil) { return .reconnect }
      guard hasLoss else { return nil }
      if let overload, frame.arrival - overload < Self.maximumOverload { return .overloaded }
      return droppedWholeFrames ? .waitingForKeyframe : .lost
    }
    guard let last else { return nil }
    if let reason = pause(from: last, to: frame) {
      guard isBroken, let interruption, last.arrival <= interruption else { return reason }
      self.interruption = nil
      return .reconnect
    }
    if let interruption, frame.arrival - interruption > Self.maximumInterruption { self.interruption = nil }
    return delay >= Self.shortestDelay ? .recoveredLate : nil
  }

  /// Why the sender skipped media time, if it did; no packet is missing.
  private func pause(from last: Frame, to frame: Frame) -> MediaGap.Reason? {
    let played = MediaTime(ticks: Int64(last.duration), rate: frame.time.rate).duration
    let passed = frame.time.duration(since: last.time)
    let leftOut = passed - played
    if kind == .audio, leftOut >= Self.shortestAudioHole, last.isSilence || frame.isSilence { return .dtx }
    if leftOut > (kind == .audio ? Self.maximumAudioHole : Self.maximumVideoFrameHole) { return .senderPaused }
    let standstill = frame.arrival - last.arrival - max(.zero, passed)
    return standstill > Self.maximumStandstill ? .senderPaused : nil
  }

  private mutating func clear() {
    packetsLost = 0
    framesDropped = 0
    droppedWholeFrames = false
    delay = .zero
  }
}
