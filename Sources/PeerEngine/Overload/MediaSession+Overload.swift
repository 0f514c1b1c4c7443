internal import Media
internal import NIOCore
internal import RTP

/// Video that is left unread because this machine has no time for it.
extension MediaSession {
  /// Whether video has come that frames are made of.
  var hasVideoSource: Bool {
    mutating get {
      for position in receiving.indices
      where receiving[position].media.kind == .video && receiving[position].selected != nil {
        return true
      }
      return false
    }
  }

  /// Whether packets of this payload type are video, or repair it.
  mutating func isVideo(payloadType: UInt8) -> Bool {
    for position in receiving.indices where receiving[position].media.kind == .video {
      if receiving[position].media.payloadType == payloadType { return true }
      if receiving[position].media.retransmissionPayloadType == payloadType { return true }
    }
    return false
  }

  /// A packet came and is left unread. Its sender is told that it has come: the line is not why it is of no use.
  mutating func leftUnread(_ datagram: ByteBuffer, now: MonotonicInstant) {
    guard sendsTransportFeedback, let packet = try? RTPPacket(parsing: datagram),
      let number = packet.extensions.transportSequenceNumber(extensions.transportSequenceNumber)
    else { return }
    transportFeedback?.received(sequenceNumber: number, arrival: now)
    wake(at: transportFeedback?.deadline)
  }

  /// Datagrams were dropped because they were not read in time: what is found to be missing soon was among them.
  mutating func datagramsWereDropped(now: MonotonicInstant) {
    for position in receiving.indices { receiving[position].gaps.datagramsWereDropped(now: now) }
  }

  /// No video is read from now on, although it is sent.
  mutating func stopsReadingVideo(now: MonotonicInstant) {
    begin(now: now)
    for position in receiving.indices where receiving[position].media.kind == .video {
      receiving[position].stopReading(now: now, events: &events)
    }
  }

  /// Video is read again; what was sent meanwhile is not looked for.
  mutating func readsVideoAgain(now: MonotonicInstant) {
    begin(now: now)
    for position in receiving.indices where receiving[position].media.kind == .video {
      receiving[position].readAgain(now: now)
    }
  }
}

extension ReceiveTrack {
  /// Hands on what can be used of what has come, and requests nothing until ``readAgain(now:)``.
  mutating func stopReading(now: MonotonicInstant, events: inout [MediaEvent]) {
    isUnread = true
    guard let position = selectedIndex else { return }
    sources[position].giveUpAll()
    drain(now: now, events: &events)
  }

  /// Continues with the next packet that comes, and a keyframe.
  mutating func readAgain(now: MonotonicInstant) {
    isUnread = false
    gaps.wasUnread()
    video.restart()
    // None of them has been silent.
    for position in sources.indices { sources[position].willBeReadAgain(now: now) }
    requestKeyframe(now: now)
  }
}
