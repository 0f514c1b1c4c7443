internal import COpenSSL
package import NIOCore

/// One DTLS 1.2 association that yields SRTP keys (RFC 5764) and carries data (RFC 8261), over datagrams that the caller
/// sends and receives.
///
/// ```
/// new ──start──► handshaking ──Finished──► established ──close_notify──► closed
///                     └── alert, wrong certificate ──► failed ◄──┘ fatal alert
/// ```
///
/// OpenSSL keeps the retransmission timer and reads the real clock for it; ``retransmissionDelay`` says when to call
/// ``handleTimeout()``. The first retransmission follows after 50 ms: a peer that was not ready for the first flight then
/// costs a twentieth of OpenSSL's usual second.
package final class DTLSConnection {
  package enum State: Sendable, Hashable {
    case handshaking
    case established(SRTPKeys)
    case closed
    case failed(DTLSError)
  }

  package private(set) var state = State.handshaking

  let ssl: OpaquePointer
  let incoming: OpaquePointer
  private let outgoing: DatagramBIO
  private let role: DTLSRole
  private let expectedFingerprints: [CertificateFingerprint]
  private var scratch = [UInt8](repeating: 0, count: maximumDataBytes)
  private var receivedData: [ByteBuffer] = []

  /// The maximum payload of a handshake datagram in bytes; below the MTU of every common IPv4 and IPv6 path.
  static let maximumDatagramBytes = 1200
  /// The maximum size of a received record in bytes; a larger one is split and so useless.
  private static let maximumDataBytes = 4_096
  /// How many received records are kept until they are taken; the caller takes them after each datagram.
  private static let maximumReceivedRecords = 64

  /// The elliptic curves that we accept, the best first: those that OpenSSL offers, and P-224, on which the certificate of FFmpeg's WHIP
  /// muxer is if it uses GnuTLS.
  private static let groups = "X25519:P-256:X448:P-521:P-384:P-224"

  /// - Parameters:
  ///   - role: whether we send the ClientHello.
  ///   - fingerprints: the fingerprints of the remote SDP; the handshake counts only if one matches the peer's certificate.
  ///   - profiles: the SRTP protection profiles that we accept, the best first.
  package init(
    role: DTLSRole, identity: DTLSIdentity, expecting fingerprints: [CertificateFingerprint],
    profiles: [SRTPProfile] = SRTPProfile.preferred
  ) throws(DTLSError) {
    self.role = role
    expectedFingerprints = fingerprints
    guard let context = SSL_CTX_new(DTLS_method()) else { throw .notSetUp(DTLSError.takeOpenSSLReason()) }
    defer { SSL_CTX_free(context) }
    // Here, unlike in the other functions, zero means success.
    let profiles = profiles.map(\.openSSLName).joined(separator: ":")
    guard
      chatbot_SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION) == 1,
      chatbot_SSL_CTX_set_max_proto_version(context, DTLS1_2_VERSION) == 1,
      SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES:!aNULL:!eNULL") == 1,
      chatbot_SSL_CTX_set_groups_list(context, Self.groups) == 1,
      SSL_CTX_set_tlsext_use_srtp(context, profiles) == 0,
      SSL_CTX_use_certificate(context, identity.certificate) == 1,
      SSL_CTX_use_PrivateKey(context, identity.privateKey) == 1
    else { throw .notSetUp(DTLSError.takeOpenSSLReason()) }
    // Self-signed certificates fail every chain check; the fingerprint is the check that counts (RFC 8827, 6.5). After that
    // check, no other certificate is accepted.
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT) { _, store in
      guard let store, let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
        let connection = SSL_get_ex_data(OpaquePointer(ssl), 0)
      else { return 0 }
      return Unmanaged<DTLSConnection>.fromOpaque(connection).takeUnretainedValue().state == .handshaking ? 1 : 0
    }

    guard let ssl = SSL_new(context) else { throw .notSetUp(DTLSError.takeOpenSSLReason()) }
    guard let incoming = BIO_new(BIO_s_mem()), let outgoing = DatagramBIO() else {
      SSL_free(ssl)
      throw .notSetUp(DTLSError.takeOpenSSLReason())
    }
    chatbot_BIO_set_mem_eof_return(incoming, -1)
    SSL_set_bio(ssl, incoming, outgoing.handle)
    // SSL_OP_NO_QUERY_MTU and SSL_OP_NO_RENEGOTIATION, macros that Swift cannot see.
    SSL_set_options(ssl, UInt64(1) << 12 | UInt64(1) << 30)
    chatbot_SSL_set_mtu(ssl, Self.maximumDatagramBytes)
    DTLS_set_timer_cb(ssl) { _, last in last == 0 ? 50_000 : min(last &* 2, 2_000_000) }
    switch role {
    case .client: SSL_set_connect_state(ssl)
    case .server: SSL_set_accept_state(ssl)
    }
    self.ssl = ssl
    self.incoming = incoming
    self.outgoing = outgoing
    SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit {
    outgoing.detach()
    SSL_free(ssl)
  }

  /// Sends the ClientHello if we are the client; call it once, when datagrams can be sent.
  package func start() {
    if role == .client { proceed() }
  }

  /// Handles one datagram whose first byte is 20 to 63 (RFC 7983, 7).
  package func receive(_ datagram: ByteBuffer) {
    guard acceptsDatagrams else { return }
    let taken = datagram.withUnsafeReadableBytes { bytes in
      BIO_write(incoming, bytes.baseAddress, Int32(clamping: bytes.count))
    }
    guard taken > 0 else { return }
    proceed()
  }

  /// Retransmits the last flight if OpenSSL's timer has expired.
  package func handleTimeout() {
    guard state == .handshaking else { return }
    ERR_clear_error()
    if chatbot_DTLSv1_handle_timeout(ssl) < 0 {
      fail(.handshakeFailed("no answer after \(12) retransmissions"))
    }
  }

  /// The time until ``handleTimeout()`` must be called; nil when no answer is awaited.
  package var retransmissionDelay: Duration? {
    guard state == .handshaking else { return nil }
    let left = chatbot_DTLSv1_get_timeout(ssl)
    return left < 0 ? nil : .microseconds(left)
  }

  /// Removes and returns the datagrams to send now, in order.
  package func takeDatagrams() -> [ByteBuffer] {
    outgoing.take()
  }

  /// Removes and returns the received data, one record each, in order.
  package func takeData() -> [ByteBuffer] {
    if receivedData.isEmpty { return [] }
    defer { receivedData.removeAll(keepingCapacity: true) }
    return receivedData
  }

  /// Encrypts data as one record, which ``takeDatagrams()`` returns. Nothing is sent before the handshake is complete.
  package func send(_ data: ByteBuffer) {
    guard case .established = state else { return }
    ERR_clear_error()
    _ = data.withUnsafeReadableBytes { SSL_write(ssl, $0.baseAddress, Int32(clamping: $0.count)) }
  }

  /// Sends a `close_notify` and closes the association.
  package func close() {
    if case .established = state {
      ERR_clear_error()
      _ = SSL_shutdown(ssl)
    }
    if acceptsDatagrams { state = .closed }
  }

  private var acceptsDatagrams: Bool {
    switch state {
    case .handshaking, .established: true
    case .closed, .failed: false
    }
  }

  private func proceed() {
    ERR_clear_error()
    if state == .handshaking {
      let result = SSL_do_handshake(ssl)
      guard result == 1 else {
        let error = SSL_get_error(ssl, result)
        if error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE {
          fail(.handshakeFailed(DTLSError.takeOpenSSLReason()))
        }
        return
      }
      do {
        state = .established(try exportKeys())
      } catch {
        fail(error)
        return
      }
    }
    // The datagram may also contain a repeated Finished, which SSL_read answers, an alert, or data.
    while true {
      let count = scratch.withUnsafeMutableBytes { SSL_read(ssl, $0.baseAddress, Int32($0.count)) }
      if count > 0 {
        if receivedData.count < Self.maximumReceivedRecords {
          receivedData.append(ByteBuffer(bytes: scratch.prefix(Int(count))))
        }
        continue
      }
      switch SSL_get_error(ssl, count) {
      case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: break
      case SSL_ERROR_ZERO_RETURN: state = .closed
      // Otherwise nothing would be read any more, and every received datagram would be kept.
      default: fail(.aborted(DTLSError.takeOpenSSLReason()))
      }
      ERR_clear_error()
      return
    }
  }

  private func fail(_ error: DTLSError) {
    state = .failed(error)
  }

  private func exportKeys() throws(DTLSError) -> SRTPKeys {
    guard let certificate = SSL_get1_peer_certificate(ssl) else { throw .noCertificate }
    defer { X509_free(certificate) }
    let matches = expectedFingerprints.contains { expected in
      certificateDigest(of: certificate, algorithm: expected.algorithm) == expected.digest
    }
    guard matches else { throw .wrongFingerprint(expected: expectedFingerprints) }
    guard let selected = SSL_get_selected_srtp_profile(ssl),
      let profile = SRTPProfile(rawValue: UInt16(truncatingIfNeeded: selected.pointee.id))
    else { throw .noProtectionProfile }

    let label = "EXTRACTOR-dtls_srtp"
    var material = [UInt8](repeating: 0, count: 2 * (profile.keyLength + profile.saltLength))
    let exported = SSL_export_keying_material(
      ssl, &material, material.count, label, label.utf8.count, nil, 0, 0)
    guard exported == 1 else { throw .keysNotExported(DTLSError.takeOpenSSLReason()) }
    return SRTPKeys(profile: profile, material: material, role: role)
  }
}

/// Why a DTLS connection could not be established or had to end.
package enum DTLSError: Error, Sendable, Hashable, CustomStringConvertible {
  case identityNotMade(String)
  case notSetUp(String)
  case handshakeFailed(String)
  case noCertificate
  case wrongFingerprint(expected: [CertificateFingerprint])
  case noProtectionProfile
  case keysNotExported(String)
  /// A fatal alert, or an error that requires one, after the handshake.
  case aborted(String)

  package var description: String {
    switch self {
    case .identityNotMade(let reason): "OpenSSL could not make a key and certificate: \(reason)."
    case .notSetUp(let reason): "OpenSSL could not set up DTLS: \(reason)."
    case .handshakeFailed(let reason): "The DTLS handshake failed: \(reason)."
    case .noCertificate: "The peer finished the DTLS handshake without a certificate."
    case .wrongFingerprint(let expected):
      "The peer's certificate matches none of the \(expected.count) fingerprint(s) in its session description."
    case .noProtectionProfile: "The peer shares no SRTP protection profile with us."
    case .keysNotExported(let reason): "OpenSSL could not export the SRTP keys: \(reason)."
    case .aborted(let reason): "The DTLS association was aborted: \(reason)."
    }
  }

  /// Returns the newest reason in this thread's OpenSSL error queue and empties the queue.
  static func takeOpenSSLReason() -> String {
    var newest: UInt = 0
    while true {
      let code = ERR_get_error()
      if code == 0 { break }
      newest = code
    }
    guard newest != 0, let text = ERR_reason_error_string(newest) else { return "no reason given" }
    return String(cString: text)
  }
}
