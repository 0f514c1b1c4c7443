package import Media

/// Finds the reason for each gap between two frames of a track.
///
/// It is informed of packets and frames in order, and queried once for each frame that is emitted. If there are several
/// reasons, the one that explains the others is reported: muted, then a restarted source or an interrupted connection, then
/// an overloaded machine, then loss, then a paused sender, then a slow retransmission.
package struct GapClassifier: Sendable {
  /// The properties of an emitted frame.
  package struct Frame: Sendable, Hashable {
    /// Its time on the track's timeline.
    package var time: MediaTime
    /// How long it plays, in ticks; 0 for a video frame, whose duration is unknown.
    package var duration: Int
    /// Whether it only signals that the sender is silent.
    package var isSilence: Bool
    /// Whether the sender signalled that it was silent before.
    package var startsTalkspurt: Bool
    /// Whether it is shown before an earlier frame, so that its time may go back.
    package var isReordered: Bool
    package var arrival: MonotonicInstant

    package init(
      time: MediaTime, duration: Int = 0, isSilence: Bool = false, startsTalkspurt: Bool = false,
      isReordered: Bool = false, arrival: MonotonicInstant
    ) {
      self.startsTalkspurt = startsTalkspurt
      self.isReordered = isReordered
      self.time = time
      self.duration = duration
      self.isSilence = isSilence
      self.arrival = arrival
    }
  }

  /// The shortest delay by a retransmission that is reported.
  package static let minimumDelay: Duration = .milliseconds(250)
  /// The shortest packet of audio, one of Opus: audio that is skipped during silence lasts at least as long.
  package static let minimumAudioGap: Duration = .microseconds(2_500)
  /// The media time that audio may skip: less is caused by a sender's unsteady clock, not by a pause.
  package static let maximumAudioGap: Duration = .milliseconds(60)
  /// The media time between two video frames that is no pause: a still image needs few frames.
  package static let maximumVideoGap: Duration = .seconds(1)
  /// How much longer than its media time the next frame may take to arrive. A congested path delays as well, but never by
  /// so much; a sender whose timestamps stand still for longer was paused.
  package static let maximumStandstill: Duration = .seconds(5)
  /// For how long after a drop of datagrams on this machine a loss is attributed to it.
  package static let maximumOverload: Duration = .seconds(1)
  /// For how long after the sender signalled that it does not send a frame of before may arrive.
  package static let maximumTransit: Duration = .seconds(1)
  /// The longest time between two frames that is no pause of a sender who signalled that it does not send.
  package static let shortestMuting: Duration = .milliseconds(250)
  /// For how long after an interrupted connection the first loss is attributed to it.
  package static let maximumInterruption: Duration = .seconds(10)

  private let kind: MediaKind
  /// The last frame; its time is the latest of those that were reordered with it.
  private var last: Frame?
  /// Whether the sender reorders frames.
  private var reorders = false
  private var packetsLost = 0
  private var framesDropped = 0
  /// Whether complete frames were dropped.
  private var droppedWholeFrames = false
  /// Whether frames were dropped of which packets are missing, or that are invalid.
  private var droppedDamagedFrames = false
  /// The longest time for which a requested packet had been missing.
  private var delay = Duration.zero
  private var isOtherSource = false
  private var interruption: MonotonicInstant?
  private var overload: MonotonicInstant?
  private var followsSuspension = false
  private var muting: MonotonicInstant?

  package init(kind: MediaKind) {
    self.kind = kind
  }

  /// Notes that the next packets in order were given up.
  package mutating func packetsWereLost(_ count: Int) { packetsLost += count }

  /// Notes that a frame arrived, complete or in part, and could not be used.
  package mutating func frameWasDropped(_ frame: DroppedFrame) {
    framesDropped += 1
    switch frame {
    case .whole: droppedWholeFrames = true
    case .cutOff: break
    case .damaged: droppedDamagedFrames = true
    }
  }

  /// Notes that a requested packet was emitted, which arrived `duration` after it was missed.
  package mutating func packetWasAwaited(_ duration: Duration) { delay = max(delay, duration) }

  /// Notes that the frames that follow are from another source, or from one that restarted its sequence numbers.
  package mutating func sourceChanged() { isOtherSource = true }

  /// Notes that the connection was interrupted.
  package mutating func connectionWasInterrupted(now: MonotonicInstant) { interruption = now }

  /// Notes that datagrams were dropped because this machine did not read them in time.
  package mutating func datagramsWereDropped(now: MonotonicInstant) { overload = now }

  /// Notes that packets since the last frame were discarded because of an overload.
  package mutating func wasSuspended() { followsSuspension = true }

  /// Notes that the sender signalled that it does not send.
  package mutating func wasMuted(now: MonotonicInstant) { muting = muting ?? now }

  /// Returns the gap before a frame that is emitted now, or nil if the frame follows the previous one without a gap.
  package mutating func gap(before frame: Frame, now: MonotonicInstant) -> MediaGap? {
    defer {
      let latest = frame.isReordered ? last?.time : nil
      last = frame
      if let latest, latest.duration(since: frame.time) > .zero { last?.time = latest }
      if packetsLost > 0 || framesDropped > 0 || delay > .zero { clear() }
      isOtherSource = false
    }
    if frame.isReordered { reorders = true }
    let hasLoss = packetsLost > 0 || framesDropped > 0
    guard let reason = reason(before: frame, hasLoss: hasLoss) else { return nil }
    var gap = MediaGap(reason, packetsLost: packetsLost, framesDropped: framesDropped)
    gap.delay = delay >= Self.minimumDelay ? delay : .zero
    if reason == .lost, packetsLost > 0 { gap.delay = max(gap.delay, now - frame.arrival) }
    return gap
  }

  private mutating func reason(before frame: Frame, hasLoss: Bool) -> MediaGap.Reason? {
    if let muting, frame.arrival > muting, !wasOnItsWay(frame, at: muting) {
      self.muting = nil
      interruption = nil
      return .muted
    }
    if followsSuspension {
      followsSuspension = false
      return .overloaded
    }
    let isBroken = interruption.map { frame.arrival >= $0 } ?? false
    if isOtherSource || hasLoss {
      if isBroken { interruption = nil }
      if isBroken || (isOtherSource && last != nil) { return .reconnect }
      guard hasLoss else { return nil }
      if let overload, frame.arrival - overload < Self.maximumOverload { return .overloaded }
      if droppedWholeFrames { return .waitingForKeyframe }
      return packetsLost > 0 || droppedDamagedFrames ? .lost : .senderDiscarded
    }
    guard let last else { return nil }
    if let reason = pause(from: last, to: frame) {
      guard isBroken, let interruption, last.arrival <= interruption else { return reason }
      self.interruption = nil
      return .reconnect
    }
    if let interruption, frame.arrival - interruption > Self.maximumInterruption { self.interruption = nil }
    return delay >= Self.minimumDelay ? .recoveredLate : nil
  }

  /// Whether a frame was sent before the sender signalled that it does not send: it follows the previous one without a pause.
  private func wasOnItsWay(_ frame: Frame, at muting: MonotonicInstant) -> Bool {
    guard let last, frame.arrival - muting < Self.maximumTransit else { return false }
    let passed = max(frame.time.duration(since: last.time), frame.arrival - last.arrival)
    return passed < Self.shortestMuting
  }

  /// Returns why the sender skipped media time, if it did; no packet is missing.
  private func pause(from last: Frame, to frame: Frame) -> MediaGap.Reason? {
    // The codec may have changed, and its clock with it.
    let played = MediaTime(ticks: Int64(last.duration), rate: last.time.rate).duration
    let passed = frame.time.duration(since: last.time)
    // A frame that others precede in output comes early, as many frames as these are.
    let skipped = (reorders ? min(passed, frame.arrival - last.arrival) : passed) - played
    if kind == .audio, skipped >= Self.minimumAudioGap, last.isSilence || frame.isSilence || frame.startsTalkspurt {
      return .dtx
    }
    if skipped > (kind == .audio ? Self.maximumAudioGap : Self.maximumVideoGap) { return .senderPaused }
    let standstill = frame.arrival - last.arrival - max(.zero, passed)
    return standstill > Self.maximumStandstill ? .senderPaused : nil
  }

  private mutating func clear() {
    packetsLost = 0
    framesDropped = 0
    droppedWholeFrames = false
    droppedDamagedFrames = false
    delay = .zero
  }
}
