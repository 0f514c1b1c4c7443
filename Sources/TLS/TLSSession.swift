internal import COpenSSL
internal import Glibc
package import NIOCore

/// One side of a TLS connection (RFC 8446, RFC 5246) without the connection: bytes of the network and data of the user in and out.
///
/// ```
/// handshake ──done──► read, write ──shutdown, close_notify──► closed
///     └── failed ◄────────┘
/// ```
///
/// After each call the caller sends what ``takeCiphertext()`` returns, also after a failure: it may be an alert. After the first
/// failure all calls fail.
package final class TLSSession {
  /// Whether a call could do its work.
  package enum Progress: Sendable, Hashable {
    case done
    /// The peer must send more.
    case needsInput
    case failed(TLSError)
  }

  package enum ReadResult: Sendable, Hashable {
    /// The limit is reached; there may be more.
    case full
    case needsInput
    /// The peer has sent a `close_notify`: it sends nothing more.
    case closed
    case failed(TLSError)
  }

  package enum Shutdown: Sendable, Hashable {
    /// Our `close_notify` is to be sent, and that of the peer has not arrived.
    case sent
    /// The peer has sent its `close_notify` as well.
    case complete
    /// There is no `close_notify`, because the connection is not established or broken.
    case impossible
  }

  private let context: TLSContext
  let ssl: OpaquePointer
  /// Both belong to `ssl`.
  private let incoming: OpaquePointer
  private let outgoing: OpaquePointer
  /// The name or the address that the certificate of the peer must be for.
  private let host: String
  /// Verifies the peer's chain of certificates (DER) instead of OpenSSL.
  private let verification: (([[UInt8]]) -> Bool)?
  private var rejection: TLSCertificateRejection?
  private var ciphertext = ByteBuffer()
  private var scratch = [UInt8](repeating: 0, count: maximumRecordBytes)
  private var isEstablished = false
  private var failure: TLSError?
  /// The type and the major version of the peer's first record, as far as they have arrived.
  private var firstBytes: [UInt8] = []
  /// What the peer has sent since the handshake: messages of another handshake, such as updates of keys, and data in bytes.
  private var lateHandshakeMessages = 0
  private var dataReceived = 0

  /// How many messages of a handshake are accepted after it, in addition to one for each ``bytesForMessage`` bytes of data. Each
  /// may cost an answer (RFC 8446, 4.6.3), which waits if the peer does not read.
  private static let maximumLateMessages = 32
  private static let bytesForMessage = 4_096
  /// The maximum size of the data of a record in bytes (RFC 8446, 5.1).
  private static let maximumRecordBytes = 16_384
  /// How many certificates of a chain are given to a verification.
  private static let maximumChain = 16
  /// The maximum length of a host name in bytes (RFC 1035, 2.3.4).
  private static let maximumHostBytes = 253

  /// Creates the side of a client.
  ///
  /// - Parameters:
  ///   - host: the DNS name or the IP address that the server's certificate must be for, by its subject alternative names
  ///     alone (RFC 9525, 6.3). A name is also sent as the Server Name Indication; an address is none (RFC 6066, 3).
  ///   - verification: receives the chain of the server, its own certificate first, in DER, and returns whether it is accepted.
  ///     With nil, OpenSSL verifies the chain and the host.
  package init(
    client context: TLSContext, host: String, verification: (([[UInt8]]) -> Bool)? = nil
  ) throws(TLSError) {
    self.context = context
    self.host = host
    self.verification = verification
    (ssl, incoming, outgoing) = try Self.session(context)
    try setPeer()
    SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
    SSL_set_connect_state(ssl)
  }

  /// Creates the side of a server.
  package init(server context: TLSContext) throws(TLSError) {
    self.context = context
    host = ""
    verification = nil
    (ssl, incoming, outgoing) = try Self.session(context)
    SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
    SSL_set_accept_state(ssl)
  }

  deinit {
    SSL_free(ssl)
  }

  private static func session(
    _ context: TLSContext
  ) throws(TLSError) -> (ssl: OpaquePointer, incoming: OpaquePointer, outgoing: OpaquePointer) {
    ERR_clear_error()
    guard let ssl = SSL_new(context.handle) else { throw .notSetUp(TLSError.takeOpenSSLReason()) }
    guard let incoming = BIO_new(BIO_s_mem()) else {
      SSL_free(ssl)
      throw .notSetUp(TLSError.takeOpenSSLReason())
    }
    guard let outgoing = BIO_new(BIO_s_mem()) else {
      BIO_free(incoming)
      SSL_free(ssl)
      throw .notSetUp(TLSError.takeOpenSSLReason())
    }
    // An empty buffer means that more may follow, not the end of the connection.
    chatbot_BIO_set_mem_eof_return(incoming, -1)
    chatbot_BIO_set_mem_eof_return(outgoing, -1)
    SSL_set_bio(ssl, incoming, outgoing)
    return (ssl, incoming, outgoing)
  }

  private func setPeer() throws(TLSError) {
    // A name of the DNS may end with the dot of its root; certificates and the Server Name Indication are without it.
    let name = host.hasSuffix(".") ? String(host.dropLast()) : host
    // OpenSSL would take an empty name for no name, and accept every certificate.
    // A name that begins with a dot would stand for every name below it.
    guard !name.isEmpty, !name.hasPrefix("."), name.utf8.count <= Self.maximumHostBytes, !name.utf8.contains(0) else {
      throw .notSetUp("a host name needs 1 to \(Self.maximumHostBytes) bytes without a null, and begins with no dot")
    }
    guard let rules = SSL_get0_param(ssl) else { throw .notSetUp("OpenSSL has no memory") }
    if Self.isAddress(name) {
      guard X509_VERIFY_PARAM_set1_ip_asc(rules, name) == 1 else { throw .notSetUp(TLSError.takeOpenSSLReason()) }
      return
    }
    X509_VERIFY_PARAM_set_hostflags(rules, Self.nameRules)
    guard X509_VERIFY_PARAM_set1_host(rules, name, name.utf8.count) == 1,
      chatbot_SSL_set_tlsext_host_name(ssl, name) == 1
    else { throw .notSetUp(TLSError.takeOpenSSLReason()) }
  }

  /// How OpenSSL compares the names of a certificate with a host: partial wildcards such as `a*.example.org` and common names of
  /// the subject do not count (RFC 9525, 6.3).
  package static let nameRules = UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT)

  /// Whether a certificate is for a host, a name or an address.
  static func accepts(_ certificate: OpaquePointer, for host: String) -> Bool {
    let name = host.hasSuffix(".") ? String(host.dropLast()) : host
    if name.isEmpty { return true }
    return isAddress(name)
      ? X509_check_ip_asc(certificate, name, 0) == 1
      : X509_check_host(certificate, name, name.utf8.count, nameRules, nil) == 1
  }

  private static func isAddress(_ text: String) -> Bool {
    var bytes = in6_addr()
    return inet_pton(AF_INET, text, &bytes) == 1 || inet_pton(AF_INET6, text, &bytes) == 1
  }

  // MARK: Bytes of the network

  /// Accepts bytes of the peer; the next call processes them.
  package func receive(_ bytes: ByteBuffer) {
    guard failure == nil else { return }
    ERR_clear_error()
    let count = bytes.readableBytes
    if count == 0 { return }
    if firstBytes.count < 2 { firstBytes += bytes.readableBytesView.prefix(2 - firstBytes.count) }
    let taken = bytes.withUnsafeReadableBytes { BIO_write(incoming, $0.baseAddress, Int32(clamping: $0.count)) }
    if Int(taken) != count { failure = .aborted("OpenSSL has no memory for \(count) bytes") }
  }

  /// Removes and returns the bytes to send now; nil if there are none.
  package func takeCiphertext() -> ByteBuffer? {
    drain()
    guard ciphertext.readableBytes > 0 else { return nil }
    defer { ciphertext = ByteBuffer() }
    return ciphertext
  }

  /// Empties OpenSSL's buffer after each record, because it never gets smaller.
  private func drain() {
    while true {
      let waiting = BIO_ctrl_pending(outgoing)
      guard waiting > 0 else { return }
      let taken = ciphertext.writeWithUnsafeMutableBytes(minimumWritableBytes: waiting) { target in
        max(0, Int(BIO_read(outgoing, target.baseAddress, Int32(clamping: waiting))))
      }
      guard taken > 0 else { return }
    }
  }

  // MARK: Handshake

  /// Continues the handshake; the first call of a client begins it.
  package func handshake() -> Progress {
    if let failure { return .failed(failure) }
    if isEstablished { return .done }
    ERR_clear_error()
    let result = SSL_do_handshake(ssl)
    let error = SSL_get_error(ssl, result)
    drain()
    if result == 1 {
      isEstablished = true
      return .done
    }
    // A close_notify, for which OpenSSL has no reason.
    if error != SSL_ERROR_SSL, SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN != 0 {
      return .failed(fail(.endedDuringHandshake))
    }
    if error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE { return .needsInput }
    var reason = TLSError.takeOpenSSLReason()
    if reason == TLSError.unexpectedMessage, !beganWithRecord { reason = TLSError.notTLS }
    return .failed(fail(rejection.map { .certificateRejected($0) } ?? .handshakeFailed(reason)))
  }

  /// Whether the peer's first bytes are those of a record: its type is known, and its major version is 3 (RFC 8446, 5.1).
  private var beganWithRecord: Bool { firstBytes.count < 2 || (20...24).contains(firstBytes[0]) && firstBytes[1] == 3 }

  /// Returns the session of an `SSL`, while it exists.
  static func of(_ ssl: OpaquePointer) -> TLSSession? {
    SSL_get_ex_data(ssl, 0).map { Unmanaged<TLSSession>.fromOpaque($0).takeUnretainedValue() }
  }

  /// OpenSSL calls this for each message of a handshake.
  func receivedHandshakeMessage() {
    if isEstablished { lateHandshakeMessages &+= 1 }
  }

  /// OpenSSL calls this to verify the certificates of the peer.
  ///
  /// - Returns: 1 if they are accepted, otherwise 0.
  static func verify(_ store: OpaquePointer) -> Int32 {
    guard let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
      let session = of(OpaquePointer(ssl))
    else { return 0 }
    return session.verifyPeer(store) ? 1 : 0
  }

  private func verifyPeer(_ store: OpaquePointer) -> Bool {
    if !context.verifies { return true }
    if let verification {
      if verification(Self.chain(of: store)) { return true }
      X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION)
    } else {
      if X509_verify_cert(store) == 1 { return true }
      if X509_STORE_CTX_get_error(store) == X509_V_OK { X509_STORE_CTX_set_error(store, X509_V_ERR_UNSPECIFIED) }
    }
    rejection = TLSCertificateRejection(of: store, host: host)
    return false
  }

  private static func chain(of store: OpaquePointer) -> [[UInt8]] {
    guard let certificates = X509_STORE_CTX_get0_untrusted(store) else { return [] }
    let count = min(OPENSSL_sk_num(certificates), Int32(maximumChain))
    return (0..<max(0, count)).compactMap { index in
      guard let entry = OPENSSL_sk_value(certificates, index) else { return nil }
      let certificate = OpaquePointer(entry)
      let size = i2d_X509(certificate, nil)
      guard size > 0 else { return nil }
      return [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, used in
        var position = buffer.baseAddress
        used = i2d_X509(certificate, &position) == size ? Int(size) : 0
      }
    }
  }

  // MARK: Data

  /// Decrypts received data.
  ///
  /// - Parameters:
  ///   - buffer: the data is appended to it.
  ///   - limit: after how many bytes it stops; up to a record more are appended.
  package func read(into buffer: inout ByteBuffer, limit: Int) -> ReadResult {
    if let failure { return .failed(failure) }
    var count = 0
    while count < limit {
      ERR_clear_error()
      let result = scratch.withUnsafeMutableBytes { SSL_read(ssl, $0.baseAddress, Int32(clamping: $0.count)) }
      if result > 0 {
        buffer.writeBytes(scratch.prefix(Int(result)))
        count += Int(result)
        dataReceived &+= Int(result)
        continue
      }
      let error = SSL_get_error(ssl, result)
      drain()
      if lateHandshakeMessages > Self.maximumLateMessages + dataReceived / Self.bytesForMessage {
        return .failed(fail(.aborted("the peer sends too many messages of a handshake")))
      }
      switch error {
      case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .needsInput
      case SSL_ERROR_ZERO_RETURN: return .closed
      default: return .failed(fail(.aborted(TLSError.takeOpenSSLReason())))
      }
    }
    drain()
    return .full
  }

  /// Encrypts data, and removes what it has encrypted.
  ///
  /// It needs input while a message of the handshake has arrived in part, for example a session ticket; the call is then repeated
  /// with the same data.
  package func write(_ data: inout ByteBuffer) -> Progress {
    if let failure { return .failed(failure) }
    while data.readableBytes > 0 {
      ERR_clear_error()
      let result = data.withUnsafeReadableBytes {
        SSL_write(ssl, $0.baseAddress, Int32(clamping: min($0.count, Self.maximumRecordBytes)))
      }
      let error = SSL_get_error(ssl, result)
      drain()
      if result > 0 {
        data.moveReaderIndex(forwardBy: min(Int(result), data.readableBytes))
        continue
      }
      if error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE { return .needsInput }
      return .failed(fail(.aborted(TLSError.takeOpenSSLReason())))
    }
    return .done
  }

  /// Sends a `close_notify`, after which nothing can be written; data may still be read.
  package func shutdown() -> Shutdown {
    guard isEstablished, failure == nil else { return .impossible }
    ERR_clear_error()
    if SSL_get_shutdown(ssl) & SSL_SENT_SHUTDOWN == 0, SSL_shutdown(ssl) < 0 {
      _ = fail(.aborted(TLSError.takeOpenSSLReason()))
      return .impossible
    }
    drain()
    return SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN == 0 ? .sent : .complete
  }

  private func fail(_ error: TLSError) -> TLSError {
    failure = failure ?? error
    return error
  }
}
