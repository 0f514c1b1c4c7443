package import Media
import NIOCore
package import RTP

/// Sending frames.
extension SendTrack {
  /// Remembers a frame that cannot be sent yet, so that a viewer can start with its group of pictures.
  package mutating func skip(_ frame: EncodedFrame) {
    statistics.framesSkipped += 1
    useFormat(of: frame)
    if media.kind == .video, !lacksProfile { remember(frame) }
  }

  /// Sets the frames since the last keyframe that were already sent to others.
  package mutating func prime(_ group: GroupOfPicturesCache) {
    guard media.kind == .video, configuration.keepsGroup, self.group.isEmpty,
      let first = group.frames.first, canSend(first.codec)
    else { return }
    useFormat(of: first)
    if lacksProfile { return }
    (self.group, sentOfGroup) = (group, 0)
  }

  private mutating func remember(_ frame: EncodedFrame) {
    guard configuration.keepsGroup else { return }
    if frame.isKeyframe { sentOfGroup = 0 }
    group.add(frame)
  }

  /// Starts a viewer with all frames since the last keyframe, so that video appears at once.
  ///
  /// They are the first frames of the stream, so they keep their own times, which lie in the past, and a recording of them
  /// does not run faster at the beginning. A group longer than ``maximumUnhurriedGroup`` would begin implausibly far in the
  /// past, so its times are compressed: into that, and so that frames are closer than those of any camera.
  package mutating func start(clock: inout SendClock, pacer: inout Pacer, now: MonotonicInstant) {
    guard needsKeyframe else { return }
    guard configuration.keyframeResponse == .requestFromSource else {
      return startWithGroup(clock: &clock, pacer: &pacer, now: now)
    }
    wantsSourceKeyframe = true
    awaitSourceKeyframe(now: now)
  }

  private mutating func startWithGroup(clock: inout SendClock, pacer: inout Pacer, now: MonotonicInstant) {
    guard let last = group.frames.last(where: { !$0.isReordered }) else { return }
    let due = min(now, max(MonotonicInstant(last.arrival), now - .seconds(1)))
    // A source whose frames are forwarded has a clock for each track.
    let times: SendClock.Times = configuration.answerTimeout == nil ? .shared : .ofTrack
    let end = clock.ticks(of: last.time, codec: format.codec, stream: media.localStream, times: times, due: due)
    let isFirst = lastTicks == nil
    lastTicks = max(lastTicks ?? .min, end - frameInterval)
    lastFrameTicks = end
    var ages = group.frames.map { last.time.ticks &- $0.time.ticks }
    let maximum = Int64(format.codec.clockRate) * Self.maximumUnhurriedGroup.components.seconds
    if let longest = ages.first, longest > maximum {
      let maximum = min(maximum, Int64(ages.count) * Int64(format.codec.clockRate) * 9 / 1_000)
      // The times of a group span at most 10 s.
      for index in ages.indices {
        ages[index] = ages[index].multipliedReportingOverflow(by: maximum).partialValue / longest
      }
    }
    let ordered = zip(group.frames, ages).filter { !$0.0.isReordered }.map(\.1)
    guard isFirst, zip(ordered, ordered.dropFirst()).allSatisfy(>) else { return replay(pacer: &pacer, now: now) }
    for (frame, age) in zip(group.frames, ages) { emit(frame, ticks: end &- age, pacer: &pacer, now: now) }
    sentOfGroup = group.frames.count
    statistics.groupsReplayed += 1
  }

  /// Notes that the source was asked for a keyframe.
  mutating func awaitSourceKeyframe(now: MonotonicInstant) {
    guard let timeout = configuration.answerTimeout, replayDue == nil else { return }
    replayDue = now + timeout
  }

  /// Replays the group of pictures if the source has made no keyframe in time.
  ///
  /// - Parameter limit: the likely limit of the path, in bits a second. A group that would take longer than a second is not
  ///   replayed; the viewer begins with the next keyframe.
  package mutating func replayIfUnanswered(
    limit: Double?, clock: inout SendClock, pacer: inout Pacer, now: MonotonicInstant
  ) {
    guard let due = replayDue, due <= now else { return }
    replayDue = nil
    guard media.sends, let last = group.frames.last, !exceeds(limit) else { return }
    if needsKeyframe {
      startWithGroup(clock: &clock, pacer: &pacer, now: now)
    } else if now - last.arrived < Self.maximumPause {
      replay(pacer: &pacer, now: now)
    }
  }

  /// A viewer asks for keyframes too when its source pauses or has left. It has seen the frames of a source that sent none for this
  /// long, and must not see them again.
  private static let maximumPause: Duration = .seconds(2)

  /// Returns whether the path needs too long for the group of pictures.
  func exceeds(_ limit: Double?) -> Bool {
    limit.map { .seconds(Double(group.byteCount) * 8 / $0) > configuration.maximumBacklog } ?? false
  }

  /// How far in the past a viewer's first frames may lie.
  private static let maximumUnhurriedGroup: Duration = .seconds(2)

  /// Sends the next frame, or skips it if it depends on a keyframe that was not sent.
  ///
  /// - Parameter times: how the frame's time relates to the other track's.
  package mutating func send(
    _ frame: EncodedFrame, times: SendClock.Times = .shared, clock: inout SendClock, pacer: inout Pacer,
    now: MonotonicInstant
  ) {
    useFormat(of: frame)
    if lacksProfile {
      (needsKeyframe, sentOfGroup) = (true, 0)
      group.clear()
      statistics.framesSkipped += 1
      return
    }
    if media.kind == .video, shouldSkip(frame, pacer: &pacer, now: now) {
      statistics.framesSkipped += 1
      if resumes(pacer: pacer) { resume(with: frame, times: times, clock: &clock, pacer: &pacer, now: now) }
      return
    }
    var ticks = position(frame, times: times, clock: &clock, now: now)
    // The timestamp of a frame that is shown before an earlier one goes back, as its time does.
    if let lastTicks, !frame.isReordered { ticks = max(ticks, lastTicks &+ 1) }
    emit(frame, ticks: ticks, pacer: &pacer, now: now)
    if media.kind == .video { sentOfGroup = group.frames.count }
  }

  /// Returns the position of the source's next frame on the timeline.
  mutating func position(
    _ frame: EncodedFrame, times: SendClock.Times, clock: inout SendClock, now: MonotonicInstant
  ) -> Int64 {
    let ticks = clock.ticks(
      of: frame.time, codec: format.codec, stream: media.localStream, times: times, due: now)
    if frame.isReordered, lastFrameTicks != nil { return ticks }
    if let lastFrameTicks {
      let interval = ticks &- lastFrameTicks
      // A source that stalls or restarts must not set a wrong interval.
      if interval > 0, interval < Int64(format.codec.clockRate) { frameInterval = interval }
    }
    lastFrameTicks = ticks
    return ticks
  }

  /// Returns whether a frame cannot be sent: it depends on one that was not sent, or the path's backlog is too long.
  /// Sending resumes with a keyframe, so that no broken frame is sent.
  ///
  /// If the source makes keyframes for us, a new one is worth more than old frames in the queue.
  private mutating func shouldSkip(
    _ frame: EncodedFrame, pacer: inout Pacer, now: MonotonicInstant
  ) -> Bool {
    remember(frame)
    if configuration.keyframeResponse == .requestFromSource, let stale = configuration.staleBacklog,
      pacer.backlog > stale, !pacer.hasKeyframe(media: media.index)
    {
      dropStaleBacklog(pacer: &pacer)
    }
    let backlog = pacer.backlog
    if backlog > maximumBacklog(pacer) { beginSkipping() }
    guard needsKeyframe else { return false }
    guard backlog <= configuration.shortBacklog else { return true }
    if configuration.keyframeResponse == .requestFromSource, !frame.isKeyframe {
      wantsSourceKeyframe = true
      awaitSourceKeyframe(now: now)
    }
    return !frame.isKeyframe
  }

  /// How long the path's backlog may be. As long as the path has carried everything, only the pacing delays what is queued, such
  /// as the group with which a viewer was started, and more of it may wait.
  private func maximumBacklog(_ pacer: Pacer) -> Duration {
    pacer.hasKnownLimit || !configuration.keepsGroup ? configuration.maximumBacklog : configuration.maximumPacedBacklog
  }

  /// Removes queued packets and retransmissions; a keyframe serves a receiver better that misses them.
  private mutating func dropStaleBacklog(pacer: inout Pacer) {
    let removed = UInt64(pacer.removeStale(media: media.index))
    statistics.framesSkipped += removed
    statistics.framesSent -= min(removed, statistics.framesSent)
    history.forget()
    sentOfGroup = 0
    beginSkipping()
  }

  mutating func beginSkipping() {
    needsKeyframe = true
    isSkippingFrames = true
  }

  /// Returns whether the source must be asked for a keyframe now, and clears the request.
  package mutating func takeSourceKeyframeRequest(now: MonotonicInstant) -> Bool {
    guard wantsSourceKeyframe, media.sends else { return false }
    wantsSourceKeyframe = false
    if let lastKeyframeAnswer, now - lastKeyframeAnswer < configuration.requestInterval { return false }
    lastKeyframeAnswer = now
    return true
  }

  mutating func emit(
    _ frame: EncodedFrame, ticks: Int64, pacer: inout Pacer, now: MonotonicInstant
  ) {
    lastTicks = max(lastTicks ?? ticks, ticks)
    statistics.framesSent += 1
    if media.kind == .video {
      needsKeyframe = false
      isSkippingFrames = false
      if frame.isKeyframe {
        lastKeyframeAnswer = now
        replayDue = nil
      }
    }
    let room =
      configuration.maximumPacketSize - RTPPacket.fixedHeaderSize - extensions.byteCount - Retransmission.overhead
    guard let payloads = payloadWriter.split(frame.payload, maximumSize: room) else {
      // The marker bit marks the beginning of a talkspurt (RFC 7587, 4.1; RFC 3551, 4.1): here there is only one.
      let packet = stream.packet(frame.payload, ticks: ticks, marker: statistics.framesSent == 1)
      enqueue(packet, .audio, pacer: &pacer, now: now)
      return
    }
    for (number, payload) in payloads.enumerated() {
      let packet = stream.packet(payload, ticks: ticks, marker: number == payloads.count - 1)
      let start: Pacer.FrameStart? = number > 0 ? nil : frame.isKeyframe ? .keyframe : .interframe
      enqueue(packet, .video, start: start, pacer: &pacer, now: now)
    }
  }

  private func enqueue(
    _ packet: RTPPacket, _ priority: Pacer.Priority, start: Pacer.FrameStart? = nil, pacer: inout Pacer,
    now: MonotonicInstant
  ) {
    var packet = packet
    packet.extensions = extensions
    pacer.add(.init(packet: packet, priority: priority, media: media.index, start: start), now: now)
  }

  /// Returns a packet to fill a bandwidth probe: a retransmission of one of the newest, which helps if that was lost and is
  /// ignored if not (RFC 4588); nil if RTX was not negotiated.
  package mutating func filler(now: MonotonicInstant) -> Pacer.Entry? {
    guard media.sends, format.feedback.nack, format.retransmissionPayloadType != nil,
      let original = history.newest(fillersSent, now: now), let packet = repair?.retransmission(of: original)
    else { return nil }
    fillersSent += 1
    return Pacer.Entry(packet: packet, priority: .retransmission, media: media.index)
  }

  /// Notes that a packet leaves, and completes its header.
  package mutating func send(
    _ entry: Pacer.Entry, sequence: inout TransportSequence, time: NTPTime, now: MonotonicInstant
  ) -> (packet: RTPPacket, transportNumber: UInt16?) {
    var packet = entry.packet
    if entry.priority != .retransmission {
      fillersSent = 0
      stream.number(&packet)
      reporter.sent(payloadBytes: packet.payload.readableBytes)
      if format.feedback.nack {
        history.sent(packet, now: now)
        budget.earn(packet.byteCount)
      }
    }
    statistics.packetsSent += 1
    statistics.bytesSent += UInt64(packet.payload.readableBytes)
    packet.extensions.setAbsoluteSendTime(time.absoluteSendTime, media.extensions.absoluteSendTime)
    guard let id = media.extensions.transportSequenceNumber else { return (packet, nil) }
    let number = sequence.take()
    packet.extensions.setTransportSequenceNumber(number, id)
    return (packet, number)
  }
}
