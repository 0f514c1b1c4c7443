internal import COpenSSL
package import NIOCore

/// One DTLS 1.2 association that yields SRTP keys (RFC 5764), over datagrams that the caller carries.
///
/// ```
/// new ──start──► handshaking ──Finished──► established ──close_notify──► closed
///                     └── alert, wrong certificate ──► failed ◄──┘ fatal alert
/// ```
///
/// OpenSSL keeps the retransmission timer and reads the real clock for it; ``retransmissionDelay`` says when to call
/// ``handleTimeout()``. The first retransmission comes after 50 ms: a peer that was not ready for the first flight
/// then costs a twentieth of OpenSSL's usual second.
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
  private var scratch = [UInt8](repeating: 0, count: 2048)

  /// Payload bytes of the largest datagram that a handshake sends; below every path's limit for IPv4 and IPv6.
  static let maximumDatagramBytes = 1200

  /// - Parameters:
  ///   - role: whether we send the ClientHello.
  ///   - fingerprints: the remote SDP's; the handshake counts only if one matches the peer's certificate.
  ///   - profiles: the SRTP protection profiles that we agree to, the best first.
  package init(
    role: DTLSRole, identity: DTLSIdentity, expecting fingerprints: [CertificateFingerprint],
    profiles: [SRTPProfile] = SRTPProfile.preferred
  ) throws(DTLSError) {
    self.role = role
    expectedFingerprints = fingerprints
    guard let context = SSL_CTX_new(DTLS_method()) else { throw .notSetUp(DTLSError.takeOpenSSLReason()) }
    defer { SSL_CTX_free(context) }
    // Zero means success here, and nowhere else.
    let profiles = profiles.map(\.openSSLName).joined(separator: ":")
    guard
      chatbot_SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION) == 1,
      chatbot_SSL_CTX_set_max_proto_version(context, DTLS1_2_VERSION) == 1,
      SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES:!aNULL:!eNULL") == 1,
      SSL_CTX_set_tlsext_use_srtp(context, profiles) == 0,
      SSL_CTX_use_certificate(context, identity.certificate) == 1,
      SSL_CTX_use_PrivateKey(context, identity.privateKey) == 1
    else { throw .notSetUp(DTLSError.takeOpenSSLReason()) }
    // Self-signed certificates fail every chain check; the fingerprint is the check that counts (RFC 8827, 6.5). Once it has been
    // made no other certificate is looked at.
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

  /// Sends the ClientHello if we are the client; call it once, when a datagram can be carried.
  package func start() {
    if role == .client { proceed() }
  }

  /// Takes one datagram whose first byte is 20 to 63 (RFC 7983, 7).
  package func receive(_ datagram: ByteBuffer) {
    guard acceptsDatagrams else { return }
    let taken = datagram.withUnsafeReadableBytes { bytes in
      BIO_write(incoming, bytes.baseAddress, Int32(clamping: bytes.count))
    }
    guard taken > 0 else { return }
    proceed()
  }

  /// Sends the last flight again if OpenSSL's timer has run out.
  package func handleTimeout() {
    guard state == .handshaking else { return }
    ERR_clear_error()
    if chatbot_DTLSv1_handle_timeout(ssl) < 0 {
      fail(.handshakeFailed("no answer after \(12) retransmissions"))
    }
  }

  /// How long until ``handleTimeout()`` should be called; nil when nothing waits for an answer.
  package var retransmissionDelay: Duration? {
    guard state == .handshaking else { return nil }
    let left = chatbot_DTLSv1_get_timeout(ssl)
    return left < 0 ? nil : .microseconds(left)
  }

  /// The datagrams to send now, in order.
  package func takeDatagrams() -> [ByteBuffer] {
    outgoing.take()
  }

  /// Tells the peer that this is the end.
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
    // What else the datagram held: a repeated Finished, which SSL_read answers, an alert, or data that nobody requested.
    while true {
      let count = scratch.withUnsafeMutableBytes { SSL_read(ssl, $0.baseAddress, Int32($0.count)) }
      if count > 0 { continue }
      switch SSL_get_error(ssl, count) {
      case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: break
      case SSL_ERROR_ZERO_RETURN: state = .closed
      // Nothing would be read any more, and all that comes would be kept.
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
