internal import Media
internal import NIOCore

/// The writing end of ``ParticipantEvents``; it lives on the event loop.
///
/// When the reader falls behind, media is left out and counted; when it has caught up, keyframes are asked for, because
/// video cannot go on without one.
final class EventSource {
  /// Called when video has to start again.
  var keyframeNeeded: () -> Void = {}

  private var isBehind = false
  private var waitsForKeyframe: Set<ParticipantID> = []
  /// Frames left out since the reader fell behind.
  private var framesLeftOut: [ParticipantID: Int] = [:]
  private var source: ParticipantEvents.Producer.Source?

  static let highWatermark = 4096
  static let lowWatermark = 1024

  static func make(on loop: any EventLoop) -> (EventSource, ParticipantEvents) {
    let source = EventSource()
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

  func yield(_ event: ParticipantEvent) {
    if case .media(.frame(let frame)) = event.event, !admits(frame) {
      framesLeftOut[frame.owner, default: 0] += 1
      return
    }
    if case .ended = event.event {
      waitsForKeyframe.remove(event.participant)
      framesLeftOut[event.participant] = nil
    }
    if source?.yield(event) == .stopProducing { isBehind = true }
  }

  func finish() {
    source?.finish()
    source = nil
  }

  private func admits(_ frame: EncodedFrame) -> Bool {
    guard frame.codec.kind == .video else { return !isBehind }
    if isBehind {
      waitsForKeyframe.insert(frame.owner)
      return false
    }
    guard waitsForKeyframe.contains(frame.owner) else { return true }
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
      yield(ParticipantEvent(participant: participant, event: .problem(sentence)))
    }
    if !waitsForKeyframe.isEmpty { keyframeNeeded() }
  }
}
