internal import Media
internal import NIOCore
internal import RTP

/// Video that is left unread because this machine has no time for it.
extension PeerConnection {
  /// Whether the participant is connected and has sent video.
  var sendsVideo: Bool { isOpen && media.hasVideoSource }

  /// From now on the participant's video is left as it comes, encrypted.
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

  /// Packets of a source between two that are decrypted all the same: SRTP counts how often numbers start again (RFC 3711, 3.3.1), and
  /// must see one of each 32,768.
  private static let maximumSilence: UInt16 = 4_096

  /// Whether an RTP packet is to be left unread; counts it then. Its header is not encrypted (RFC 3711, 3.1).
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
