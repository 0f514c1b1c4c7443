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
  private mutating func isVideo(payloadType: UInt8) -> Bool {
    for position in receiving.indices where receiving[position].media.kind == .video {
      if receiving[position].media.format(of: payloadType) != nil { return true }
    }
    return false
  }

  /// Decides on an encrypted RTP packet. One of suspended video is counted as discarded; its header is not encrypted (RFC
  /// 3711, 3.1).
  mutating func discardIfSuspended(_ datagram: ByteBuffer, now: MonotonicInstant) -> VideoSuspension.Verdict {
    guard suspension.since != nil,
      let (_, second, number, _, source) = datagram.getMultipleIntegers(
        at: datagram.readerIndex, as: (UInt8, UInt8, UInt16, UInt32, UInt32).self),
      isVideo(payloadType: second & 0x7F)
    else { return .accepted }
    received(discarded: datagram, now: now)
    return suspension.discard(number, of: source)
  }

  /// Notes that a packet of suspended video was decrypted, for SRTP's sake.
  mutating func decrypted(_ number: UInt16, of source: UInt32) { suspension.decrypted(number, of: source) }

  /// Transport feedback reports a discarded packet as received, because the network path did not lose it.
  private mutating func received(discarded datagram: ByteBuffer, now: MonotonicInstant) {
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

  /// Stops receiving video, although it still arrives: its packets are discarded without decrypting them.
  mutating func suspendVideo(now: MonotonicInstant) {
    suspension.begin(now: now)
    begin(now: now)
    for position in receiving.indices where receiving[position].media.kind == .video {
      receiving[position].suspend(now: now, events: &events)
    }
  }

  /// Receives video again, from the next keyframe on; packets that were sent meanwhile are not requested.
  mutating func resumeVideo(now: MonotonicInstant) {
    suspension.end(now: now)
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
