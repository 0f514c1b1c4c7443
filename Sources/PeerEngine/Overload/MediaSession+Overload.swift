internal import Media
internal import NIOCore
internal import RTP

/// Video that is left unread because this machine has no time for it.
extension MediaSession {
  /// Whether video has arrived from a source that frames are assembled from.
  var hasVideoSource: Bool {
    mutating get {
      for position in receiving.indices
      where receiving[position].media.kind == .video && receiving[position].selected != nil {
        return true
      }
      return false
    }
  }

  /// Returns whether packets of this payload type are video or its retransmissions.
  mutating func isVideo(payloadType: UInt8) -> Bool {
    for position in receiving.indices where receiving[position].media.kind == .video {
      if receiving[position].media.payloadType == payloadType { return true }
      if receiving[position].media.retransmissionPayloadType == payloadType { return true }
    }
    return false
  }

  /// Notes that a packet arrived and is left unread. Transport feedback reports it as received, because the network path
  /// did not lose it.
  mutating func leftUnread(_ datagram: ByteBuffer, now: MonotonicInstant) {
    guard sendsTransportFeedback, let packet = try? RTPPacket(parsing: datagram),
      let number = packet.extensions.transportSequenceNumber(extensions.transportSequenceNumber)
    else { return }
    transportFeedback?.received(sequenceNumber: number, arrival: now)
    wake(at: transportFeedback?.deadline)
  }

  /// Notes that datagrams were dropped because they were not read in time: packets that are soon found missing are counted
  /// among them.
  mutating func datagramsWereDropped(now: MonotonicInstant) {
    for position in receiving.indices { receiving[position].gaps.datagramsWereDropped(now: now) }
  }

  /// Stops reading video, although it still arrives.
  mutating func stopsReadingVideo(now: MonotonicInstant) {
    begin(now: now)
    for position in receiving.indices where receiving[position].media.kind == .video {
      receiving[position].stopReading(now: now, events: &events)
    }
  }

  /// Reads video again; packets that were sent meanwhile are not requested.
  mutating func readsVideoAgain(now: MonotonicInstant) {
    begin(now: now)
    for position in receiving.indices where receiving[position].media.kind == .video {
      receiving[position].readAgain(now: now)
    }
  }
}

extension ReceiveTrack {
  /// Emits the usable frames of the buffered packets, and requests nothing until ``readAgain(now:)``.
  mutating func stopReading(now: MonotonicInstant, events: inout [MediaEvent]) {
    isUnread = true
    guard let position = selectedIndex else { return }
    sources[position].giveUpAll()
    drain(now: now, events: &events)
  }

  /// Continues with the next packet that arrives, and requests a keyframe.
  mutating func readAgain(now: MonotonicInstant) {
    isUnread = false
    gaps.wasUnread()
    video.restart()
    // No source counts as silent.
    for position in sources.indices { sources[position].willBeReadAgain(now: now) }
    requestKeyframe(now: now)
  }
}

/// Video that is left unread because this machine has no time for it.
extension PeerConnection {
  /// Whether the participant is connected and has sent video.
  var sendsVideo: Bool { isOpen && media.hasVideoSource }

  /// Leaves the participant's video unread, still encrypted, from now on.
  func leaveVideoUnread(now: MonotonicInstant) {
    unreadSince = now
    media.stopsReadingVideo(now: now)
  }

  /// Reads the participant's video again, from the next keyframe on.
  func readVideo(now: MonotonicInstant) {
    unreadSince = nil
    lastUnread = now
    media.readsVideoAgain(now: now)
  }

  /// How many packets of each source are left encrypted before one is decrypted all the same: SRTP counts the rollovers of
  /// sequence numbers (RFC 3711, 3.3.1), and must see at least one packet in 32,768.
  private static let maximumSilence: UInt16 = 4_096

  /// Returns whether an RTP packet is left unread, and counts it then. Its header is not encrypted (RFC 3711, 3.1).
  func leavesUnread(_ datagram: inout ByteBuffer, now: MonotonicInstant) -> Bool {
    guard unreadSince != nil,
      let (_, second, number, _, source) = datagram.getMultipleIntegers(
        at: datagram.readerIndex, as: (UInt8, UInt8, UInt16, UInt32, UInt32).self),
      media.isVideo(payloadType: second & 0x7F)
    else { return false }
    packetsUnread &+= 1
    lastMediaArrival = now
    media.leftUnread(datagram, now: now)
    let last = unreadNumbers[source]
    if last == nil || number &- (last ?? 0) >= Self.maximumSilence {
      if unreadNumbers.count > 8 { unreadNumbers.removeAll() }
      if secure.session?.unprotect(&datagram, isControl: false) == true { unreadNumbers[source] = number }
    }
    return true
  }
}
