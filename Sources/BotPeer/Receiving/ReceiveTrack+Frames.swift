import Media
import NIOCore
import RTP

/// From packets in order to frames.
extension ReceiveTrack {
  /// Hands on all that is due.
  mutating func drain(now: ContinuousClock.Instant, events: inout [MediaEvent]) {
    guard let place = selectedIndex else { return }
    while let item = sources[place].next(now: now) {
      switch item {
      case .lost:
        statistics.packetsLost += 1
        if media.codec == .vp8 { video.addLost(1) }
      case .packet(let packet):
        if media.codec == .vp8 {
          video.add(packet)
          takeFrames(events: &events)
        } else {
          takeOpus(packet, events: &events)
        }
      }
    }
  }

  mutating func takeFrames(events: inout [MediaEvent]) {
    while let (frame, isDecodable) = video.popFrame() {
      guard isDecodable else {
        statistics.framesDropped += 1
        continue
      }
      if frame.link.isKeyframe {
        statistics.keyframes += 1
        keyframeIsWanted = false
      }
      emit(
        frame.payload, timestamp: frame.timestamp, isKeyframe: frame.link.isKeyframe, size: frame.size,
        arrival: frame.arrival, events: &events)
    }
  }

  private mutating func takeOpus(_ packet: ReceivedPacket, events: inout [MediaEvent]) {
    guard packet.payload.readableBytes > 0 else { return }
    guard (try? OpusPacket(parsing: packet.payload)) != nil else {
      statistics.framesDropped += 1
      return
    }
    emit(packet.payload, timestamp: packet.timestamp, isKeyframe: true, arrival: packet.arrival, events: &events)
  }

  private mutating func emit(
    _ payload: ByteBuffer, timestamp: UInt32, isKeyframe: Bool, size: PictureSize? = nil,
    arrival: ContinuousClock.Instant, events: inout [MediaEvent]
  ) {
    let report = selectedIndex.flatMap { sources[$0].lastReport }
    let time = timeline.place(
      timestamp, arrival: arrival, report: report.map { ($0.timestamp, $0.time.value) })
    statistics.frames += 1
    events.append(
      .frame(
        EncodedFrame(
          owner: owner, codec: media.codec, time: time, payload: payload, isKeyframe: isKeyframe, size: size,
          arrival: arrival)))
    if reportIsPending { tellClock(events: &events) }
  }

  mutating func tellClock(events: inout [MediaEvent]) {
    guard let report = selectedIndex.flatMap({ sources[$0].lastReport }) else { return }
    guard let time = timeline.place(reportOf: report.timestamp, ntp: report.time.value) else {
      reportIsPending = true
      return
    }
    reportIsPending = false
    events.append(
      .clock(
        ClockReport(
          owner: owner, codec: media.codec, time: time, ntp: report.time.value, arrival: report.arrival)))
  }
}
