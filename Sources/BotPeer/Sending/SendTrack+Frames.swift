package import Media
import NIOCore
package import RTP

/// Frames.
extension SendTrack {
  /// Remembers a frame that cannot be sent yet, so that a viewer can be started with its group.
  package mutating func skip(_ frame: EncodedFrame) {
    statistics.framesSkipped += 1
    if media.codec == .vp8 { group.add(frame) }
  }

  /// Takes the frames since the last keyframe that others were sent already.
  package mutating func prime(_ group: GroupOfPicturesCache) {
    if media.codec == .vp8, self.group.isEmpty { self.group = group }
  }

  /// Starts a viewer: with all frames since the last keyframe, so that the picture is there at once.
  ///
  /// Nothing came before them, so they keep their own times, which lie in the past, and what is recorded of them has no
  /// hurry in it. A group longer than ``longestUnhurriedGroup`` would begin too far in the past to be believed.
  package mutating func start(clock: inout SendClock, pacer: inout Pacer, now: ContinuousClock.Instant) {
    guard needsKeyframe, let last = group.frames.last else { return }
    let due = min(now, max(last.arrival, now - .seconds(1)))
    let end = clock.ticks(of: last.time, rate: media.codec.clockRate, due: due)
    let isFirst = lastTicks == nil
    lastTicks = end - frameInterval
    lastFrameTicks = end
    let ages = group.frames.map { last.time.ticks &- $0.time.ticks }
    guard isFirst, let longest = ages.first, zip(ages, ages.dropFirst()).allSatisfy(>),
      longest <= Int64(media.codec.clockRate) * Self.longestUnhurriedGroup.components.seconds
    else { return replay(pacer: &pacer, now: now) }
    for (frame, age) in zip(group.frames, ages) { emit(frame, ticks: end - age, pacer: &pacer, now: now) }
    statistics.groupsReplayed += 1
  }

  /// How far back a viewer's first frames may lie.
  private static let longestUnhurriedGroup: Duration = .seconds(2)

  /// Sends the next frame; one that depends on a keyframe that was not sent is left out.
  package mutating func send(
    _ frame: EncodedFrame, clock: inout SendClock, pacer: inout Pacer, now: ContinuousClock.Instant
  ) {
    if media.codec == .vp8 {
      group.add(frame)
      if needsKeyframe && !frame.isKeyframe {
        statistics.framesSkipped += 1
        return
      }
    }
    var ticks = clock.ticks(of: frame.time, rate: media.codec.clockRate, due: now)
    if let lastFrameTicks {
      let interval = ticks - lastFrameTicks
      // A stalled source or one that begins anew must not teach a wrong interval.
      if interval > 0, interval < Int64(media.codec.clockRate) { frameInterval = interval }
    }
    lastFrameTicks = ticks
    if let lastTicks { ticks = max(ticks, lastTicks + 1) }
    emit(frame, ticks: ticks, pacer: &pacer, now: now)
  }

  /// Sends the group of pictures again, its timestamps squeezed into nine tenths of the time to the next frame: the
  /// viewer runs through what it has missed and goes on with the next frame as if nothing had been.
  mutating func replay(pacer: inout Pacer, now: ContinuousClock.Instant) {
    let frames = group.frames
    guard !frames.isEmpty, let start = lastTicks else { return }
    let span = frameInterval * 9 / 10
    for (number, frame) in frames.enumerated() {
      let ticks = start + max(Int64(number) + 1, span * Int64(number + 1) / Int64(frames.count))
      emit(frame, ticks: ticks, pacer: &pacer, now: now)
    }
    statistics.groupsReplayed += 1
  }

  private mutating func emit(
    _ frame: EncodedFrame, ticks: Int64, pacer: inout Pacer, now: ContinuousClock.Instant
  ) {
    lastTicks = ticks
    statistics.framesSent += 1
    guard media.codec == .vp8 else {
      // The marker bit tells the beginning of a talkspurt (RFC 7587, 4.1; RFC 3551, 4.1): here there is only one.
      let packet = stream.packet(frame.payload, ticks: ticks, marker: statistics.framesSent == 1)
      enqueue(packet, .sound, pacer: &pacer, now: now)
      return
    }
    needsKeyframe = false
    if frame.isKeyframe { lastKeyframeAnswer = now }
    let room =
      configuration.maximumPacketSize - RTPPacket.fixedHeaderSize - extensions.byteCount - Retransmission.overhead
    let payloads = VP8Packetizer(maximumPayloadSize: room).packetize(
      frame: frame.payload,
      descriptor: VP8PayloadDescriptor(startsPartition: true, pictureID: .init(pictureID)))
    pictureID = (pictureID + 1) & 0x7FFF
    for (number, payload) in payloads.enumerated() {
      let packet = stream.packet(payload, ticks: ticks, marker: number == payloads.count - 1)
      enqueue(packet, .picture, pacer: &pacer, now: now)
    }
  }

  private func enqueue(
    _ packet: RTPPacket, _ priority: Pacer.Priority, pacer: inout Pacer, now: ContinuousClock.Instant
  ) {
    var packet = packet
    packet.extensions = extensions
    pacer.add(.init(packet: packet, priority: priority, media: media.index), now: now)
  }

  /// Notes that a packet leaves, and fills in what is only known now.
  package mutating func leave(
    _ entry: Pacer.Entry, sequence: inout TransportSequence, time: NTPTime, now: ContinuousClock.Instant
  ) -> RTPPacket {
    var packet = entry.packet
    if entry.priority != .retransmission {
      reporter.sent(payloadBytes: packet.payload.readableBytes)
      if media.feedback.nack {
        history.sent(packet, now: now)
        budget.earn(packet.byteCount)
      }
    }
    statistics.packetsSent += 1
    statistics.bytesSent += UInt64(packet.payload.readableBytes)
    packet.extensions.setAbsoluteSendTime(time.absoluteSendTime, media.extensions.absoluteSendTime)
    if let id = media.extensions.transportSequenceNumber {
      packet.extensions.setTransportSequenceNumber(sequence.take(), id)
    }
    return packet
  }
}
