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
  /// What has happened in this turn.
  private var turn: [ParticipantEvent] = []
  private var source: ParticipantEvents.Producer.Source?

  private struct Track: Hashable {
    let owner: ParticipantID
    let kind: MediaKind

    init(of frame: EncodedFrame) { (owner, kind) = (frame.owner, frame.codec.kind) }
  }

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

  /// Adds an event to those of this turn; they are handed over together (``yield()``), for each time may wake the reader.
  func add(_ event: ParticipantEvent) {
    var event = event
    if case .media(.frame(let frame)) = event.event {
      guard admits(frame) else { return leaveOut(frame) }
      if let whole = gaps.removeValue(forKey: Track(of: frame))?.followed(by: frame.gap) {
        var frame = frame
        frame.gap = whole
        event = ParticipantEvent(participant: event.participant, event: .media(.frame(frame)))
      }
    }
    if case .ended = event.event {
      waitsForKeyframe.remove(event.participant)
      framesLeftOut[event.participant] = nil
      gaps = gaps.filter { $0.key.owner != event.participant }
    }
    turn.append(event)
  }

  /// Hands over what has been added.
  func yield() {
    guard !turn.isEmpty else { return }
    if source?.yield(contentsOf: turn) == .stopProducing { isBehind = true }
    turn.removeAll(keepingCapacity: true)
  }

  func finish() {
    yield()
    source?.finish()
    source = nil
  }

  private func leaveOut(_ frame: EncodedFrame) {
    framesLeftOut[frame.owner, default: 0] += 1
    var gap = (gaps[Track(of: frame)] ?? MediaGap(.diskStalled)).followed(by: frame.gap)
    gap.framesDropped += 1
    gaps[Track(of: frame)] = gap
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
      add(ParticipantEvent(participant: participant, event: .problem(sentence)))
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
