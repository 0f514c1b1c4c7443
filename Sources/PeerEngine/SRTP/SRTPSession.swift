internal import CSRTP
internal import Media
package import NIOCore

/// SRTP and SRTCP with one peer, in both directions (RFC 3711, RFC 7714), by libsrtp2.
package final class SRTPSession {
  package let profile: SRTPProfile
  private let sending: srtp_t
  private let receiving: srtp_t
  /// The sources of received packets, in order of their first packet.
  private var sources: [UInt32] = []

  /// More than a peer has: 16 tracks, three sizes of each video, a retransmission stream for each, and their successors.
  static let sourceLimit = 256

  /// The number of packets by which a packet may be late and still be accepted: a retransmission of a 4 Mb/s stream after 3
  /// s is about 1,100 packets old.
  private static let replayWindow: UInt = 4096
  /// The bytes reserved for the trailer; protection adds at most 16 bytes of tag and 4 of index (RFC 7714, 13).
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

  /// Encrypts an RTP packet in place.
  package func protectRTP(_ packet: inout ByteBuffer) throws(SRTPError) {
    try apply(to: &packet, growing: true) { srtp_protect(sending, $0, $1) }
  }

  /// Encrypts a compound RTCP packet in place.
  package func protectRTCP(_ packet: inout ByteBuffer) throws(SRTPError) {
    try apply(to: &packet, growing: true) { srtp_protect_rtcp(sending, $0, $1) }
  }

  /// Authenticates and decrypts an SRTP packet in place.
  package func unprotectRTP(_ packet: inout ByteBuffer) throws(SRTPError) {
    try apply(to: &packet, growing: false) { srtp_unprotect(receiving, $0, $1) }
    // The SSRC is the third word of an RTP packet (RFC 3550, 5.1).
    remember(packet.getInteger(at: packet.readerIndex + 8, as: UInt32.self))
  }

  /// Authenticates and decrypts an SRTCP packet in place.
  package func unprotectRTCP(_ packet: inout ByteBuffer) throws(SRTPError) {
    try apply(to: &packet, growing: false) { srtp_unprotect_rtcp(receiving, $0, $1) }
    // The SSRC is the second word of an RTCP packet (RFC 3550, 6.4.1).
    remember(packet.getInteger(at: packet.readerIndex + 4, as: UInt32.self))
  }

  /// Bounds the number of sources: libsrtp creates a stream for each new SSRC and never removes one.
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
    // Fewer bytes than any header. libsrtp checks this too, but not for every size and version.
    guard packet.readableBytes >= 8 else { throw .refused(status: srtp_err_status_bad_param.rawValue) }
    let length = packet.readableBytes
    var newLength = Int32(clamping: length)
    // libsrtp reads 32-bit words at the packet's start, so the packet must begin where the allocator aligned it.
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

  /// libsrtp's one-time initialization, performed by the first use.
  private static let libraryStatus = srtp_init()

  /// Initializes libsrtp on a thread of its own: where libsrtp loads NSS for that, as Debian's does, it takes some 50 ms of
  /// CPU time. A session that is created meanwhile waits for it.
  package static func startLibrary() { _ = libraryStart }

  private static let libraryStart = DedicatedThread.start("srtp") { _ = libraryStatus }

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
    // A packet retransmitted without RTX is the same packet, byte for byte (RFC 4585, 6.2.1).
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

/// Why libsrtp refused a session or a packet.
package enum SRTPError: Error, Sendable, Hashable, CustomStringConvertible {
  case sessionNotMade(status: UInt32)
  /// The packet was seen before, or is older than the replay window (RFC 3711, 3.3.2).
  case replayed
  /// The authentication tag is wrong: the packet is forged, damaged, or encrypted with another key.
  case notAuthentic
  case refused(status: UInt32)

  package var description: String {
    switch self {
    case .sessionNotMade(let status): "libsrtp could not make a session (status \(status))."
    case .replayed: "The packet was seen before or is too old."
    case .notAuthentic: "The packet's authentication tag is wrong."
    case .refused(let status): "libsrtp refused the packet (status \(status))."
    }
  }
}

/// Which side of the DTLS handshake a peer is: `client` sends the ClientHello (`a=setup:active`).
package enum DTLSRole: String, Sendable, Hashable {
  case client
  case server
}

/// The master keys of both directions, as the DTLS handshake exported them (RFC 5764, 4.2).
package struct SRTPKeys: Sendable, Hashable {
  package let profile: SRTPProfile
  /// The master key followed by the master salt, as libsrtp expects them.
  package let sending: [UInt8]
  package let receiving: [UInt8]

  /// - Parameters:
  ///   - material: client key, server key, client salt and server salt, concatenated, with the profile's lengths.
  ///   - role: our role, which selects the keys for sending.
  package init(profile: SRTPProfile, material: [UInt8], role: DTLSRole) {
    self.profile = profile
    let key = profile.keyLength
    let salt = profile.saltLength
    let client = Array(material.prefix(key)) + Array(material.dropFirst(2 * key).prefix(salt))
    let server = Array(material.dropFirst(key).prefix(key)) + Array(material.dropFirst(2 * key + salt).prefix(salt))
    switch role {
    case .client: (sending, receiving) = (client, server)
    case .server: (sending, receiving) = (server, client)
    }
  }
}

/// Variants without the reason for a failure.
extension SRTPSession {
  /// Decrypts in place; returns false if the packet must not be used.
  func unprotect(_ packet: inout ByteBuffer, isControl: Bool) -> Bool {
    do {
      if isControl { try unprotectRTCP(&packet) } else { try unprotectRTP(&packet) }
      return true
    } catch {
      return false
    }
  }

  /// Encrypts in place; returns false if that failed.
  func protect(_ packet: inout ByteBuffer, isControl: Bool) -> Bool {
    do {
      if isControl { try protectRTCP(&packet) } else { try protectRTP(&packet) }
      return true
    } catch {
      return false
    }
  }
}
