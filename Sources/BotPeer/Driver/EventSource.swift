internal import Media
internal import NIOCore

/// The writing end of ``ParticipantEvents``; it lives on the event loop.
///
/// When the reader falls behind, media is left out and counted; when it has caught up, keyframes are asked for, because
/// video cannot go on without one. The next frame of a track tells of what was left out before it (`EncodedFrame.gap`).
final class EventSource {
  /// Called when video has to start again.
  var keyframeNeeded: () -> Void = {}

  private var isBehind = false
  private var waitsForKeyframe: Set<ParticipantID> = []
  /// Frames left out since the reader fell behind.
  private var framesLeftOut: [ParticipantID: Int] = [:]
  /// What is missing before the next frame of a track.
  private var gaps: [Track: MediaGap] = [:]
  /// What has happened and is not handed over yet.
  private var pending: [ParticipantEvent] = []
  /// When the oldest of it happened.
  private var pendingSince: Moment?
  /// Whether some of it is not media.
  private var isUrgent = false
  private let patience: Duration
  private var source: ParticipantEvents.Producer.Source?

  private struct Track: Hashable {
    let owner: ParticipantID
    let kind: MediaKind

    init(of frame: EncodedFrame) { (owner, kind) = (frame.owner, frame.codec.kind) }
  }

  static let highWatermark = 4096
  static let lowWatermark = 1024

  private init(patience: Duration) {
    self.patience = patience
  }

  /// - Parameter patience: how long media may wait for more of it: each time that events are handed over may wake the reader, and
  ///   to wake somebody costs more than a frame.
  static func make(on loop: any EventLoop, patience: Duration = .zero) -> (EventSource, ParticipantEvents) {
    let source = EventSource(patience: patience)
    let bound = NIOLoopBound(source, eventLoop: loop)
    let flowControl = ParticipantEvents.FlowControl {
      loop.execute { bound.value.caughtUp() }
    }
    let made = ParticipantEvents.Producer.makeSequence(
      backPressureStrategy: .init(lowWatermark: lowWatermark, highWatermark: highWatermark),
      finishOnDeinit: true, delegate: flowControl)
    source.source = made.source
    return (source, ParticipantEvents(made.sequence))
  }

  /// Adds an event to those that are handed over next; see ``yield(now:)``.
  func add(_ event: ParticipantEvent) {
    var event = event
    if case .media(.frame(let frame)) = event.event {
      guard admits(frame) else { return leaveOut(frame) }
      if !gaps.isEmpty, let whole = gaps.removeValue(forKey: Track(of: frame))?.followed(by: frame.gap) {
        var frame = frame
        frame.gap = whole
        event.event = .media(.frame(frame))
      }
    }
    if case .ended = event.event {
      waitsForKeyframe.remove(event.participant)
      framesLeftOut[event.participant] = nil
      gaps = gaps.filter { $0.key.owner != event.participant }
    }
    if case .media = event.event {} else { isUrgent = true }
    pending.append(event)
  }

  /// Hands over what has been added, if it need not wait for more.
  ///
  /// - Returns: until when it waits otherwise.
  func yield(now: ContinuousClock.Instant) -> Moment? {
    if pending.isEmpty { return nil }
    let now = Moment(now)
    let due = (pendingSince ?? now) + patience
    if !isUrgent, due > now {
      pendingSince = pendingSince ?? now
      return due
    }
    yield()
    return nil
  }

  private func yield() {
    pendingSince = nil
    isUrgent = false
    if pending.isEmpty { return }
    if source?.yield(contentsOf: pending) == .stopProducing { isBehind = true }
    pending.removeAll(keepingCapacity: true)
  }

  func finish() {
    yield()
    source?.finish()
    source = nil
  }

  private func leaveOut(_ frame: EncodedFrame) {
    framesLeftOut[frame.owner, default: 0] += 1
    var gap = (gaps[Track(of: frame)] ?? MediaGap(.overloaded)).followed(by: frame.gap)
    gap.framesDropped += 1
    gaps[Track(of: frame)] = gap
  }

  private func admits(_ frame: EncodedFrame) -> Bool {
    guard frame.codec.kind == .video else { return !isBehind }
    if isBehind {
      waitsForKeyframe.insert(frame.owner)
      return false
    }
    guard !waitsForKeyframe.isEmpty, waitsForKeyframe.contains(frame.owner) else { return true }
    guard frame.isKeyframe else { return false }
    waitsForKeyframe.remove(frame.owner)
    return true
  }

  private func caughtUp() {
    isBehind = false
    let leftOut = framesLeftOut
    framesLeftOut.removeAll()
    for (participant, count) in leftOut {
      let sentence = "\(count) frames were left out, because they were not taken in time."
      add(ParticipantEvent(participant: participant, event: .problem(sentence), time: .now))
    }
    yield()
    if !waitsForKeyframe.isEmpty { keyframeNeeded() }
  }
}

extension MediaGap {
  /// The gap together with another one that comes right after it, if there is one.
  fileprivate func followed(by next: MediaGap?) -> MediaGap {
    var whole = self
    whole.packetsLost += next?.packetsLost ?? 0
    whole.framesDropped += next?.framesDropped ?? 0
    whole.delay = next?.delay ?? .zero
    return whole
  }
}
