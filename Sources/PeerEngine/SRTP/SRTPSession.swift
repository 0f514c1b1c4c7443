internal import CSRTP
package import NIOCore

/// SRTP and SRTCP for one peer, both ways (RFC 3711, RFC 7714), by libsrtp2.
package final class SRTPSession {
  package let profile: SRTPProfile
  private let sending: srtp_t
  private let receiving: srtp_t
  /// The sources that packets have come from, in the order in which they first did.
  private var sources: [UInt32] = []

  /// Far more than a peer has: sound, three sizes of video, a repair stream for each, and their successors.
  static let sourceLimit = 64

  /// Packets by which one may come late and still be taken: a retransmission of a 4 Mb/s stream after 3 s is about 1,100
  /// packets old.
  private static let replayWindow: UInt = 4096
  /// The longest that protection makes a packet: 16 bytes of tag, 4 of index (RFC 7714, 13).
  static let trailerRoom = 64

  package init(keys: SRTPKeys) throws(SRTPError) {
    guard Self.libraryStatus == srtp_err_status_ok else {
      throw .sessionNotMade(status: Self.libraryStatus.rawValue)
    }
    profile = keys.profile
    sending = try Self.makeSession(profile: keys.profile, key: keys.sending, direction: ssrc_any_outbound)
    do {
      receiving = try Self.makeSession(profile: keys.profile, key: keys.receiving, direction: ssrc_any_inbound)
    } catch {
      srtp_dealloc(sending)
      throw error
    }
  }

  deinit {
    srtp_dealloc(sending)
    srtp_dealloc(receiving)
  }

  /// Turns a plain RTP packet into an SRTP packet, in place.
  package func protectRTP(_ packet: inout ByteBuffer) throws(SRTPError) {
    try apply(to: &packet, growing: true) { srtp_protect(sending, $0, $1) }
  }

  /// Turns a plain compound RTCP packet into an SRTCP packet, in place.
  package func protectRTCP(_ packet: inout ByteBuffer) throws(SRTPError) {
    try apply(to: &packet, growing: true) { srtp_protect_rtcp(sending, $0, $1) }
  }

  /// Turns an SRTP packet into a plain RTP packet, in place.
  package func unprotectRTP(_ packet: inout ByteBuffer) throws(SRTPError) {
    try apply(to: &packet, growing: false) { srtp_unprotect(receiving, $0, $1) }
    // The source is the third word of an RTP packet (RFC 3550, 5.1).
    remember(packet.getInteger(at: packet.readerIndex + 8, as: UInt32.self))
  }

  /// Turns an SRTCP packet into a plain compound RTCP packet, in place.
  package func unprotectRTCP(_ packet: inout ByteBuffer) throws(SRTPError) {
    try apply(to: &packet, growing: false) { srtp_unprotect_rtcp(receiving, $0, $1) }
    // And the second word of an RTCP packet (RFC 3550, 6.4.1).
    remember(packet.getInteger(at: packet.readerIndex + 4, as: UInt32.self))
  }

  /// Keeps the number of sources bounded: libsrtp makes a stream of its own for each that it hears of, and never forgets one.
  private func remember(_ source: UInt32?) {
    guard let source, source != sources.last, !sources.contains(source) else { return }
    sources.append(source)
    if sources.count > Self.sourceLimit {
      srtp_remove_stream(receiving, sources.removeFirst().bigEndian)
    }
  }

  private func apply(
    to packet: inout ByteBuffer, growing: Bool,
    _ operation: (UnsafeMutableRawPointer?, UnsafeMutablePointer<Int32>) -> srtp_err_status_t
  ) throws(SRTPError) {
    // Fewer bytes than any header: libsrtp would say so too, but not for every size and version.
    guard packet.readableBytes >= 8 else { throw .refused(status: srtp_err_status_bad_param.rawValue) }
    let length = packet.readableBytes
    var newLength = Int32(clamping: length)
    // libsrtp reads 32-bit words at the packet's start, so it has to lie where the allocator put it.
    if packet.readerIndex != 0 { packet = ByteBuffer(bytes: packet.readableBytesView) }
    if growing { packet.writeRepeatingByte(0, count: Self.trailerRoom) }
    let status = packet.withUnsafeMutableReadableBytes { operation($0.baseAddress, &newLength) }
    packet.moveWriterIndex(to: packet.readerIndex + max(0, Int(newLength)))
    switch status {
    case srtp_err_status_ok: return
    case srtp_err_status_replay_fail, srtp_err_status_replay_old: throw .replayed
    case srtp_err_status_auth_fail: throw .notAuthentic
    default: throw .refused(status: status.rawValue)
    }
  }

  /// libsrtp's one-time start, done by whoever comes first.
  private static let libraryStatus = srtp_init()

  private static func makeSession(
    profile: SRTPProfile, key: [UInt8], direction: srtp_ssrc_type_t
  ) throws(SRTPError) -> srtp_t {
    var policy = srtp_policy_t()
    switch profile {
    case .aes128CounterModeSHA1With80BitTag:
      srtp_crypto_policy_set_rtp_default(&policy.rtp)
      srtp_crypto_policy_set_rtcp_default(&policy.rtcp)
    case .aes128GCM:
      srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp)
      srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp)
    case .aes256GCM:
      srtp_crypto_policy_set_aes_gcm_256_16_auth(&policy.rtp)
      srtp_crypto_policy_set_aes_gcm_256_16_auth(&policy.rtcp)
    }
    policy.ssrc.type = direction
    policy.window_size = replayWindow
    // A packet sent again without RTX is the same packet, byte for byte (RFC 4585, 6.2.1).
    policy.allow_repeat_tx = 1
    var key = key
    var session: srtp_t?
    let status = key.withUnsafeMutableBufferPointer { bytes in
      policy.key = bytes.baseAddress
      return srtp_create(&session, &policy)
    }
    guard status == srtp_err_status_ok, let session else { throw .sessionNotMade(status: status.rawValue) }
    return session
  }
}
