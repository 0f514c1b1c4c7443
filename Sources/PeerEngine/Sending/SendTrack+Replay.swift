import Media
import NIOCore

/// Sending the frames since the last keyframe again, or those of them that were skipped.
extension SendTrack {
  /// Replays the group of pictures with its timestamps compressed into nine tenths of the time to the next frame: the
  /// viewer decodes quickly what it has missed and continues normally with the next frame.
  ///
  /// Nothing is replayed on a path that is known to be too narrow for it: the viewer continues with the next keyframe.
  mutating func replay(pacer: inout Pacer, now: MonotonicInstant) {
    let frames = group.frames
    guard !frames.isEmpty, let start = lastTicks else { return }
    if pacer.backlog + pacer.time(for: group.byteCount) > configuration.maximumBacklog {
      sentOfGroup = 0
      return beginSkipping()
    }
    let span = frameInterval * 9 / 10
    // In order of output.
    var numbers = Array(frames.indices)
    if frames.contains(where: \.isReordered) {
      let shown = numbers.sorted { (frames[$0].time.ticks, $0) < (frames[$1].time.ticks, $1) }
      for (number, index) in shown.enumerated() { numbers[index] = number }
    }
    for (number, frame) in zip(numbers, frames) {
      let ticks = start + max(Int64(number) + 1, span * Int64(number + 1) / Int64(frames.count))
      emit(frame, ticks: ticks, pacer: &pacer, now: now)
    }
    sentOfGroup = frames.count
    statistics.groupsReplayed += 1
  }

  /// Returns whether sending resumes before the source's next keyframe: if the backlog is short enough for the path to carry the
  /// frames that the viewer misses as well.
  func resumes(pacer: Pacer) -> Bool {
    guard configuration.keyframeResponse == .replay, lastTicks != nil, pacer.backlog <= configuration.shortBacklog,
      !group.isEmpty
    else { return false }
    let missing = group.frames.dropFirst(sentOfGroup).reduce(0) { $0 + $1.payload.readableBytes }
    return pacer.time(for: missing) <= configuration.resumptionTime
  }

  /// Resumes sending with the frames of the group that were skipped. They keep their own times, unless they lie before those of frames
  /// that were sent: then the viewer has seen them, and the group is replayed.
  ///
  /// - Parameter frame: the newest frame of the source.
  mutating func resume(
    with frame: EncodedFrame, times: SendClock.Times, clock: inout SendClock, pacer: inout Pacer, now: MonotonicInstant
  ) {
    let missing = group.frames.dropFirst(sentOfGroup)
    let interval = frameInterval
    let end = position(frame, times: times, clock: &clock, now: now)
    frameInterval = interval
    let positions = missing.map { end &- (frame.time.ticks &- $0.time.ticks) }
    guard let last = lastTicks, zip(missing, positions).allSatisfy({ $0.0.isReordered || $0.1 > last }) else {
      lastTicks = max(lastTicks ?? 0, (lastFrameTicks ?? 0) &- frameInterval)
      return replay(pacer: &pacer, now: now)
    }
    for (frame, ticks) in zip(missing, positions) {
      emit(frame, ticks: ticks, pacer: &pacer, now: now)
      if !frame.isReordered { lastFrameTicks = max(lastFrameTicks ?? ticks, ticks) }
    }
    statistics.framesSkipped -= min(UInt64(missing.count), statistics.framesSkipped)
    sentOfGroup = group.frames.count
  }
}
