import Media
import RTP

/// Frames from packets in order.
extension ReceiveTrack {
  /// Emits all frames that are due.
  mutating func drain(now: MonotonicInstant, events: inout [MediaEvent]) {
    guard let position = selectedIndex else { return }
    while let item = sources[position].next(now: now) {
      switch item {
      case .lost(let count):
        statistics.packetsLost += UInt64(count)
        if redundancy == nil { gaps.packetsWereLost(count) } else { redundancy?.packetsWereLost(count) }
        reader.addLost(count)
      case .packet(let packet):
        if redundancy != nil { repair(before: packet, now: now, events: &events) }
        if packet.delay > .zero { gaps.packetWasAwaited(packet.delay) }
        if let stated = packet.orientation { orientation.add(stated, timestamp: packet.timestamp) }
        reader.add(packet)
        takeFrames(now: now, events: &events)
      }
    }
    statistics.packetsExpected = expectedOfEarlierSources &+ sources[position].settled
  }

  /// Reports, once for each gap, that the next frame is late; that frame itself ends the wait.
  mutating func reportRecovery(now: MonotonicInstant, events: inout [MediaEvent]) {
    guard let position = selectedIndex, let due = sources[position].recoveryIsSlow else {
      isRecovering = false
      return
    }
    guard due <= now, !isRecovering else { return }
    isRecovering = true
    events.append(.recovering(id))
  }

  mutating func takeFrames(now: MonotonicInstant, events: inout [MediaEvent]) {
    while let item = reader.next() {
      switch item {
      case .dropped(let frame):
        statistics.framesDropped += 1
        gaps.frameWasDropped(frame)
      case .frame(let frame):
        if frame.isKeyframe, media.kind == .video {
          statistics.keyframes += 1
          keyframeIsWanted = false
        }
        emit(frame, now: now, events: &events)
      }
    }
  }

  /// Returns the time of the next frame on the track's timeline.
  private mutating func position(_ timestamp: UInt32, arrival: MonotonicInstant, isReordered: Bool) -> MediaTime {
    guard let position = selectedIndex, let report = sources[position].lastReport else {
      return timeline.position(timestamp, arrival: arrival, isReordered: isReordered)
    }
    return timeline.position(
      timestamp, arrival: arrival, isReordered: isReordered, report: (report.timestamp, report.time.value))
  }

  private mutating func emit(_ frame: PayloadReader.Frame, now: MonotonicInstant, events: inout [MediaEvent]) {
    let isReordered = frame.order != nil && timestamper.isReordered(frame.order)
    let known = GapClassifier.Frame(
      time: position(frame.timestamp, arrival: frame.arrival, isReordered: isReordered), duration: frame.duration,
      isSilence: frame.isSilence, startsTalkspurt: frame.startsTalkspurt, isReordered: isReordered,
      arrival: frame.arrival)
    redundancy?.lastDuration = frame.duration
    statistics.frames += 1
    isRecovering = false
    var encoded = EncodedFrame(
      owner: owner, stream: media.stream, codec: format.codec, time: known.time, payload: frame.payload,
      header: frame.header, isKeyframe: frame.isKeyframe, size: frame.isKeyframe ? frame.header.video?.size : nil,
      arrived: known.arrival, gap: gaps.gap(before: known, now: now))
    if media.kind == .video { encoded.orientation = orientation.orientation(ofFrame: frame.timestamp) }
    if format.codec.canReorderFrames {
      timestamper.add(encoded, frame.order, now: now)
      takeTimestamped(&events)
    } else {
      events.append(.frame(encoded))
    }
    if reportIsPending { reportClock(now: now, events: &events) }
  }

  /// Emits the frames that have their presentation times.
  mutating func takeTimestamped(_ events: inout [MediaEvent]) {
    while let frame = timestamper.popFrame() { events.append(.frame(frame)) }
  }

  /// The minimum time between two reported sender reports: fifty of them fit into a datagram, and senders send at most some
  /// a second.
  private static let clockInterval = Duration.milliseconds(50)

  /// Emits the newest sender report, now or with a later frame.
  mutating func reportClock(now: MonotonicInstant, events: inout [MediaEvent]) {
    guard let position = selectedIndex, let report = sources[position].lastReport else { return }
    let isTooSoon = clockReported.map { now - $0 < Self.clockInterval } ?? false
    guard !isTooSoon, let time = timeline.position(reportOf: report.timestamp, ntp: report.time.value) else {
      reportIsPending = true
      return
    }
    reportIsPending = false
    clockReported = now
    events.append(
      .clock(
        ClockReport(
          owner: owner, stream: media.stream, codec: format.codec, time: time, ntp: report.time.value,
          arrival: report.arrival.instant)))
  }
}
