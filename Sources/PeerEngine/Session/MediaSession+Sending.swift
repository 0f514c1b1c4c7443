package import Media
import NIOCore
import RTP

/// Sent frames.
extension MediaSession {
  /// Sends a frame.
  ///
  /// Frames passed before the transport is ready are only remembered, from the last keyframe on.
  ///
  /// - Parameters:
  ///   - frame: the frame; its time is the media time since the source's start.
  ///   - times: whether both tracks' times are on one clock.
  package mutating func send(
    _ frame: EncodedFrame, times: SendClock.Times = .shared, now: MonotonicInstant
  ) {
    guard !isClosed else { return }
    begin(now: now)
    guard let position = sendingIndex(of: frame) else {
      let hasSection = sending.contains {
        $0.media.kind == frame.codec.kind && $0.media.localStream == frame.stream && $0.media.sends
      }
      if hasSection {
        missingCodecs.insert(frame.codec)
        return
      }
      // Negotiation is not complete, but a viewer must be able to start with the current frame when it is.
      if frame.codec.kind == .video, configuration.sending.keepsGroup {
        primedGroups[frame.stream, default: GroupOfPicturesCache()].add(frame)
      }
      return
    }
    congestion.offered(size: frame.payload.readableBytes, now: now)
    guard isReady, sending[position].media.sends, var clock = sendClock else { return sending[position].skip(frame) }
    sending[position].send(frame, times: times, clock: &clock, pacer: &pacer, now: now)
    if sending[position].lacksProfile { missingCodecs.insert(frame.codec) }
    sendClock = clock
  }

  /// Passes on the frames since the last keyframe, which others received before this peer joined, so that it need not wait
  /// for the next keyframe. Has an effect until the first frame is sent.
  package mutating func prime(_ group: GroupOfPicturesCache, now: MonotonicInstant) {
    guard !isClosed, configuration.sending.keepsGroup, let stream = group.frames.first?.stream else {
      return
    }
    begin(now: now)
    if let position = sending.firstIndex(where: { $0.media.kind == .video && $0.media.localStream == stream }) {
      sending[position].prime(group)
      startVideo(now: now)
    } else if primedGroups[stream]?.isEmpty ?? true {
      primedGroups[stream] = group
    }
  }

  mutating func configureSending(_ media: [NegotiatedMedia], now: MonotonicInstant) {
    for position in sending.indices.reversed() {
      let track = sending[position]
      let stays = media.contains {
        $0.trackKey == track.media.trackKey && $0.format(of: track.format.codec) != nil
          && $0.localSSRC == track.media.localSSRC
      }
      if !stays {
        pacer.removeAll(media: track.media.index)
        for stream in [track.stream, track.repair].compactMap(\.self) { formerStreams[stream.ssrc] = stream }
        sending.remove(at: position)
      }
    }
    for section in media where section.ordinal == 0 {
      if let position = sending.firstIndex(where: { $0.media.index == section.index }) {
        sending[position].reconfigure(section)
      } else if section.sends {
        var track = SendTrack(media: section, configuration: configuration.sending, using: &generator)
        track.resume(formerStreams)
        if section.kind == .video, let group = primedGroups.removeValue(forKey: section.localStream) {
          track.prime(group)
        }
        sending.append(track)
      }
    }
    sending.sort { $0.media.index < $1.media.index }
  }

  /// Starts each video track that can start with the known group of pictures.
  mutating func startVideo(now: MonotonicInstant) {
    guard isReady, var clock = sendClock else { return }
    for position in sending.indices where sending[position].media.sends && sending[position].media.kind == .video {
      sending[position].start(clock: &clock, pacer: &pacer, now: now)
    }
    sendClock = clock
  }

  /// Replays the group of pictures where the source has answered no keyframe request.
  mutating func replayUnanswered(now: MonotonicInstant) {
    for position in sending.indices {
      guard isReady, let due = sending[position].replayDue, due <= now, var clock = sendClock else { continue }
      sending[position].replayIfUnanswered(limit: congestion.likelyLimit, clock: &clock, pacer: &pacer, now: now)
      sendClock = clock
    }
  }

  mutating func keyframeRequested(of ssrc: UInt32, now: MonotonicInstant) {
    guard isReady, let position = sendingIndex(owning: ssrc) else { return }
    let limit = congestion.likelyLimit
    if sending[position].keyframeRequested(limit: limit, pacer: &pacer, now: now) { keyframeWasRequested = true }
  }

  mutating func sendingIndex(owning ssrc: UInt32) -> Int? {
    sending.firstIndex { $0.stream.ssrc == ssrc || $0.repair?.ssrc == ssrc }
  }

  private mutating func sendingIndex(ofSection index: Int) -> Int? {
    for position in sending.indices where sending[position].media.index == index { return position }
    return nil
  }

  /// Returns the track that sends frames like this one: of its stream, in a section with its codec.
  private mutating func sendingIndex(of frame: EncodedFrame) -> Int? {
    for position in sending.indices
    where sending[position].media.localStream == frame.stream && sending[position].canSend(frame.codec) {
      return position
    }
    return nil
  }

  /// Outputs the packets that may leave now.
  mutating func releasePackets(now: MonotonicInstant, outputs: inout [Output]) {
    guard let clock, !pacer.isEmpty || congestion.isProbing || isSkippingFrames else { return }
    let time = clock.time(at: now)
    pace(now: now)
    while let entry = pacer.next(allowance: congestion.sendAllowance(now: now), now: now) {
      release(entry, time: time, now: now, outputs: &outputs)
    }
    while pacer.wantsFiller(now: now) {
      guard let filler = filler(now: now) else {
        congestion.abandonProbe(now: now)
        pace(now: now)
        return
      }
      pacer.fillerLeft(size: filler.packet.byteCount)
      release(filler, isFiller: true, time: time, now: now, outputs: &outputs)
    }
  }

  private mutating func pace(now: MonotonicInstant) {
    let isSkipping = isSkippingFrames
    let probe = congestion.probeRate(
      isSending: pacer.hasVideo || isSkipping, needsMore: isSkipping || pacer.backlog > Self.notableBacklog, now: now)
    let rate = congestion.pace(mediaRate: pacer.mediaRate(now: now))
    pacer.pace(by: rate, limit: congestion.knownLimit, probe: probe, now: now)
  }

  /// More than the backlog of one keyframe from a source that follows the target bitrate.
  private static let notableBacklog: Duration = .milliseconds(250)

  private var isSkippingFrames: Bool {
    mutating get {
      for position in sending.indices where sending[position].isSkippingFrames {
        return sending[position].media.sends
      }
      return false
    }
  }

  private mutating func filler(now: MonotonicInstant) -> Pacer.Entry? {
    for position in sending.indices {
      if let filler = sending[position].filler(now: now) { return filler }
    }
    return nil
  }

  private mutating func release(
    _ entry: Pacer.Entry, isFiller: Bool = false, time: NTPTime, now: MonotonicInstant, outputs: inout [Output]
  ) {
    guard let position = sendingIndex(ofSection: entry.media) else { return }
    var (packet, number) = sending[position].send(entry, sequence: &transportSequence, time: time, now: now)
    interceptors?.send(
      &packet, kind: sending[position].media.kind, clockRate: sending[position].format.codec.clockRate)
    if !sending[position].hasReported { nextReport = now }
    let wasProbing = congestion.isProbing
    congestion.sent(
      number: number, size: packet.byteCount, isRepeat: entry.priority == .retransmission, isFiller: isFiller,
      isAudio: entry.priority == .audio, now: now)
    if wasProbing, !congestion.isProbing { pace(now: now) }
    var datagram = ByteBufferAllocator().buffer(capacity: packet.byteCount + SRTPSession.trailerRoom)
    packet.write(into: &datagram)
    outputs.append(.rtp(datagram))
  }
}

/// SSRCs that change during the call without signalling, as they do when a sender restarts or an SFU switches.
extension MediaSession {
  /// Sends all tracks with new SSRCs from now on; video continues with a keyframe.
  package mutating func changeSources(now: MonotonicInstant) {
    guard !isClosed else { return }
    begin(now: now)
    for position in sending.indices {
      // Queued packets have the old SSRC in their header.
      pacer.removeAll(media: sending[position].media.index)
      sending[position].changeSource(using: &generator)
    }
  }
}

extension SendTrack {
  /// Continues with a new SSRC and new sequence numbers and timestamps; earlier packets are not retransmitted.
  package mutating func changeSource(using generator: inout some RandomNumberGenerator) {
    stream = RTPStreamSender(
      ssrc: UInt32.random(in: 1...UInt32.max, using: &generator), payloadType: stream.payloadType, using: &generator)
    if let repair {
      self.repair = RTPStreamSender(
        ssrc: UInt32.random(in: 1...UInt32.max, using: &generator), payloadType: repair.payloadType, using: &generator)
    }
    reporter = SenderReporter(clockRate: format.codec.clockRate)
    hasReported = false
    history.forget()
    (needsKeyframe, sentOfGroup) = (true, 0)
    if configuration.keyframeResponse == .requestFromSource { wantsSourceKeyframe = media.kind == .video }
  }
}
