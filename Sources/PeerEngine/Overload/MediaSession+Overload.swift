internal import Media
internal import NIOCore
internal import RTP

/// Video that is suspended because this machine has no time for it: its packets are discarded before decryption.
///
/// The order of overload: docs/architecture.md.
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
      if receiving[position].media.format(of: payloadType) != nil { return true }
    }
    return false
  }

  /// Notes that a packet arrived and is discarded. Transport feedback reports it as received, because the network path
  /// did not lose it.
  mutating func discarded(_ datagram: ByteBuffer, now: MonotonicInstant) {
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

  /// Stops receiving video, although it still arrives.
  mutating func suspendVideo(now: MonotonicInstant) {
    begin(now: now)
    for position in receiving.indices where receiving[position].media.kind == .video {
      receiving[position].suspend(now: now, events: &events)
    }
  }

  /// Receives video again; packets that were sent meanwhile are not requested.
  mutating func resumeVideo(now: MonotonicInstant) {
    begin(now: now)
    for position in receiving.indices where receiving[position].media.kind == .video {
      receiving[position].resume(now: now)
    }
  }
}

extension ReceiveTrack {
  /// Emits the usable frames of the buffered packets, and requests nothing until ``resume(now:)``.
  mutating func suspend(now: MonotonicInstant, events: inout [MediaEvent]) {
    isSuspended = true
    guard let position = selectedIndex else { return }
    sources[position].giveUpAll()
    drain(now: now, events: &events)
  }

  /// Continues with the next packet that arrives, and requests a keyframe.
  mutating func resume(now: MonotonicInstant) {
    isSuspended = false
    gaps.wasSuspended()
    reader.restart()
    // No source counts as silent.
    for position in sources.indices { sources[position].willResume(now: now) }
    requestKeyframe(now: now)
  }
}

/// Video that is suspended because this machine has no time for it.
extension PeerConnection {
  /// Whether the participant is connected and has sent video.
  var sendsVideo: Bool { isOpen && media.hasVideoSource }

  /// Discards the packets of the participant's video from now on, without decrypting them.
  func suspendVideo(now: MonotonicInstant) {
    suspendedSince = now
    media.suspendVideo(now: now)
  }

  /// Receives the participant's video again, from the next keyframe on.
  func resumeVideo(now: MonotonicInstant) {
    suspendedSince = nil
    lastResumed = now
    media.resumeVideo(now: now)
  }

  /// How many packets of each source are discarded before one is decrypted all the same: SRTP counts the rollovers of
  /// sequence numbers (RFC 3711, 3.3.1), and must see at least one packet in 32,768.
  private static let maximumUndecrypted: UInt16 = 4_096

  /// Returns whether an RTP packet belongs to suspended video, and counts it as discarded then. Its header is not
  /// encrypted (RFC 3711, 3.1).
  func discardIfSuspended(_ datagram: inout ByteBuffer, now: MonotonicInstant) -> Bool {
    guard suspendedSince != nil,
      let (_, second, number, _, source) = datagram.getMultipleIntegers(
        at: datagram.readerIndex, as: (UInt8, UInt8, UInt16, UInt32, UInt32).self),
      media.isVideo(payloadType: second & 0x7F)
    else { return false }
    packetsDiscarded &+= 1
    timing.lastMediaArrival = now
    media.discarded(datagram, now: now)
    let last = lastDecryptedNumbers[source]
    if last == nil || number &- (last ?? 0) >= Self.maximumUndecrypted {
      if lastDecryptedNumbers.count > 128 { lastDecryptedNumbers.removeAll() }
      if secure.session?.unprotect(&datagram, isControl: false) == true { lastDecryptedNumbers[source] = number }
    }
    return true
  }
}
