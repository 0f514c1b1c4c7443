internal import Media
internal import NIOCore

/// The writing end of ``ParticipantEvents``; it belongs to the event loop.
///
/// When the reader falls behind, media is dropped and counted. When it has caught up, keyframes are requested, because
/// video cannot continue without one. The next frame of a track reports the dropped frames (`EncodedFrame.gap`).
final class EventSource {
  /// Called when video must continue at a keyframe.
  var keyframeNeeded: () -> Void = {}

  private var isBehind = false
  private var dropper = FrameDropper()
  /// Frames dropped since the reader fell behind.
  private var framesDropped: [ParticipantID: Int] = [:]
  /// Events that are not passed on yet.
  private var pending: [ParticipantEvent] = []
  /// The time of the oldest pending event.
  private var pendingSince: MonotonicInstant?
  /// Whether a pending event is not media.
  private var isUrgent = false
  private let deliveryInterval: Duration
  private var source: ParticipantEvents.Producer.Source?

  static let highWatermark = 4096
  static let lowWatermark = 1024

  private init(deliveryInterval: Duration) {
    self.deliveryInterval = deliveryInterval
  }

  /// - Parameter deliveryInterval: how long media may wait for further events. Passing on events may wake the reader,
  ///   and waking a task costs more than a frame.
  static func make(on loop: any EventLoop, deliveryInterval: Duration = .zero) -> (EventSource, ParticipantEvents) {
    let source = EventSource(deliveryInterval: deliveryInterval)
    let bound = NIOLoopBound(source, eventLoop: loop)
    let flowControl = ParticipantEvents.FlowControl {
      loop.execute { bound.value.consumerCaughtUp() }
    }
    let made = ParticipantEvents.Producer.makeSequence(
      backPressureStrategy: .init(lowWatermark: lowWatermark, highWatermark: highWatermark),
      finishOnDeinit: true, delegate: flowControl)
    source.source = made.source
    return (source, ParticipantEvents(made.sequence))
  }

  /// Adds an event to the pending ones; see ``yield(now:)``.
  func add(_ event: ParticipantEvent) {
    var event = event
    if case .media(.frame(var frame)) = event.event {
      switch dropper.admit(frame, of: frame.track, capacity: { isBehind ? .full : .ample }) {
      case .dropped:
        framesDropped[frame.owner, default: 0] += 1
        return
      case .admitted(let dropped?):
        frame.gap = dropped.gap(before: frame.gap)
        event.event = .media(.frame(frame))
      case .admitted(nil):
        break
      }
    }
    if case .ended = event.event {
      framesDropped[event.participant] = nil
      _ = dropper.takeDropped(of: event.participant)
    }
    if case .media = event.event {} else { isUrgent = true }
    pending.append(event)
  }

  /// Passes on the pending events, unless they may wait for more.
  ///
  /// - Returns: the time until which they wait, or nil.
  func yield(now: MonotonicInstant) -> MonotonicInstant? {
    if pending.isEmpty { return nil }
    let due = (pendingSince ?? now) + deliveryInterval
    if !isUrgent, due > now {
      pendingSince = pendingSince ?? now
      return due
    }
    yield()
    return nil
  }

  /// Passes on all pending events.
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

  private func consumerCaughtUp() {
    isBehind = false
    let dropped = framesDropped
    framesDropped.removeAll()
    for (participant, count) in dropped {
      let sentence = "\(count) frames were dropped, because they were not read in time."
      add(ParticipantEvent(participant: participant, event: .problem(sentence), at: .now))
    }
    yield()
    if dropper.tracks.contains(where: { $0.kind == .video }) { keyframeNeeded() }
  }
}
