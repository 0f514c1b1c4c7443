internal import Media
internal import NIOCore

/// The writing end of ``ParticipantEvents``; it lives on the event loop.
///
/// When the reader falls behind, media is skipped and counted; when it has caught up, keyframes are requested, because
/// video cannot continue without one. The next frame of a track reports what was skipped before it (`EncodedFrame.gap`).
final class EventSource {
  /// Called when video has to start again.
  var keyframeNeeded: () -> Void = {}

  private var isBehind = false
  private var dropper = FrameDropper()
  /// Frames skipped since the reader fell behind.
  private var framesLeftOut: [ParticipantID: Int] = [:]
  /// What has happened and is not handed over yet.
  private var pending: [ParticipantEvent] = []
  /// When the oldest of it happened.
  private var pendingSince: MonotonicInstant?
  /// Whether some of it is not media.
  private var isUrgent = false
  private let patience: Duration
  private var source: ParticipantEvents.Producer.Source?

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
    if case .media(.frame(var frame)) = event.event {
      switch dropper.admit(frame, of: .init(of: frame), room: { isBehind ? .none : .ample }) {
      case .dropped:
        framesLeftOut[frame.owner, default: 0] += 1
        return
      case .admitted(let dropped?):
        frame.gap = dropped.gap(before: frame.gap)
        event.event = .media(.frame(frame))
      case .admitted(nil):
        break
      }
    }
    if case .ended = event.event {
      framesLeftOut[event.participant] = nil
      for kind in MediaKind.allCases { _ = dropper.takeDropped(of: .init(event.participant, kind)) }
    }
    if case .media = event.event {} else { isUrgent = true }
    pending.append(event)
  }

  /// Hands over what has been added, if it need not wait for more.
  ///
  /// - Returns: until when it waits otherwise.
  func yield(now: ContinuousClock.Instant) -> MonotonicInstant? {
    if pending.isEmpty { return nil }
    let now = MonotonicInstant(now)
    let due = (pendingSince ?? now) + patience
    if !isUrgent, due > now {
      pendingSince = pendingSince ?? now
      return due
    }
    yield()
    return nil
  }

  /// Hands over all that has been added.
  func yield() {
    pendingSince = nil
    isUrgent = false
    if pending.isEmpty { return }
    if source?.yield(contentsOf: pending) == .stopProducing { isBehind = true }
    pending.removeAll(keepingCapacity: true)
  }

  func finish() {
    keyframeNeeded = {}
    yield()
    source?.finish()
    source = nil
  }

  private func caughtUp() {
    isBehind = false
    let leftOut = framesLeftOut
    framesLeftOut.removeAll()
    for (participant, count) in leftOut {
      let sentence = "\(count) frames were skipped, because they were not taken in time."
      add(ParticipantEvent(participant: participant, event: .problem(sentence), time: .now))
    }
    yield()
    if dropper.tracks.contains(where: { $0.kind == .video }) { keyframeNeeded() }
  }
}
