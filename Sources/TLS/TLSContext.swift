internal import COpenSSL

/// The settings that TLS connections share: versions, cipher suites, and certificates.
///
/// TLS 1.2 or later (RFC 8996), without renegotiation and compression. The cipher suites of TLS 1.2 encrypt with AES or ChaCha20;
/// those with an ephemeral key come first.
package final class TLSContext: @unchecked Sendable {
  /// The certificates that a client trusts.
  package enum Trust: Sendable, Hashable {
    /// The system's certificate authorities.
    case system
    /// The certificates of one PEM file, instead of the system's.
    case file(String)
    /// Any certificate. For tests only.
    case noVerification
  }

  package enum Version: Sendable, Hashable, Comparable {
    /// RFC 8996 forbids TLS 1.0 and 1.1: only tests offer them.
    case tlsv1
    case tlsv11
    case tlsv12
    case tlsv13

    fileprivate var number: Int32 {
      switch self {
      case .tlsv1: TLS1_VERSION
      case .tlsv11: TLS1_1_VERSION
      case .tlsv12: TLS1_2_VERSION
      case .tlsv13: TLS1_3_VERSION
      }
    }
  }

  /// OpenSSL lets all threads use a context that nothing changes any more.
  let handle: OpaquePointer
  let isServer: Bool
  let verifies: Bool

  private static let cipherSuites =
    "ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM:DHE+CHACHA20:ECDHE+AES256:DHE+AES256:ECDHE+AES128:DHE+AES:RSA+AESGCM:RSA+AES"
    + ":!aNULL:!eNULL:!MD5:!AESCCM:!aDSS"

  /// Creates the context of clients.
  package init(trusting trust: Trust, versions: ClosedRange<Version> = .tlsv12 ... .tlsv13) throws(TLSError) {
    isServer = false
    verifies = trust != .noVerification
    handle = try Self.context(versions)
    // All stored properties are set: from here on deinit frees the handle, also when an error is thrown.
    switch trust {
    case .system:
      guard SSL_CTX_set_default_verify_paths(handle) == 1 else { throw .notSetUp(TLSError.takeOpenSSLReason()) }
    case .file(let path): try Self.trust(path, SSL_CTX_get_cert_store(handle))
    case .noVerification: break
    }
    SSL_CTX_set_verify(handle, verifies ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nil)
    SSL_CTX_set_cert_verify_callback(handle, { store, _ in store.map(TLSSession.verify) ?? 0 }, nil)
  }

  /// Creates the context of servers, which request no certificate.
  ///
  /// - Parameters:
  ///   - certificateFile: a PEM file with the certificate, followed by those of the authorities between it and a root.
  ///   - keyFile: a PEM file with the private key, not encrypted.
  package init(
    certificateFile: String, keyFile: String, versions: ClosedRange<Version> = .tlsv12 ... .tlsv13
  ) throws(TLSError) {
    isServer = true
    verifies = false
    handle = try Self.context(versions)
    guard SSL_CTX_use_certificate_chain_file(handle, certificateFile) == 1 else {
      throw .unusableCertificate(file: certificateFile, reason: TLSError.takeOpenSSLReason())
    }
    guard SSL_CTX_use_PrivateKey_file(handle, keyFile, SSL_FILETYPE_PEM) == 1, SSL_CTX_check_private_key(handle) == 1
    else { throw .unusableKey(file: keyFile, reason: TLSError.takeOpenSSLReason()) }
    SSL_CTX_set_verify(handle, SSL_VERIFY_NONE, nil)
  }

  deinit {
    SSL_CTX_free(handle)
  }

  private static func context(_ versions: ClosedRange<Version>) throws(TLSError) -> OpaquePointer {
    ERR_clear_error()
    guard let handle = SSL_CTX_new(TLS_method()) else { throw .notSetUp(TLSError.takeOpenSSLReason()) }
    // OpenSSL rejects the signatures of older versions at higher levels.
    if versions.lowerBound < .tlsv12 { SSL_CTX_set_security_level(handle, 0) }
    guard chatbot_SSL_CTX_set_min_proto_version(handle, versions.lowerBound.number) == 1,
      chatbot_SSL_CTX_set_max_proto_version(handle, versions.upperBound.number) == 1,
      SSL_CTX_set_cipher_list(handle, cipherSuites) == 1
    else {
      SSL_CTX_free(handle)
      throw .notSetUp(TLSError.takeOpenSSLReason())
    }
    chatbot_SSL_CTX_set_stream_options(handle)
    SSL_CTX_set_msg_callback(handle) { isSent, _, type, _, _, ssl, _ in
      if isSent == 0, type == SSL3_RT_HANDSHAKE, let ssl { TLSSession.of(ssl)?.receivedHandshakeMessage() }
    }
    // Otherwise OpenSSL asks the terminal for the password of an encrypted file.
    SSL_CTX_set_default_passwd_cb(handle) { _, _, _, _ in -1 }
    return handle
  }

  // MARK: Files of certificates

  /// Checks whether a file contains certificates that can be trusted. Blocks while it reads them.
  package static func checkTrustedCertificates(inFile path: String) throws(TLSError) {
    let store = X509_STORE_new()
    defer { X509_STORE_free(store) }
    try trust(path, store)
  }

  private static func trust(_ path: String, _ store: OpaquePointer?) throws(TLSError) {
    ERR_clear_error()
    guard let store else { throw .notSetUp("OpenSSL has no memory") }
    guard let file = BIO_new_file(path, "r") else {
      throw .noTrustedCertificates(file: path, reason: TLSError.takeOpenSSLReason())
    }
    defer { BIO_free(file) }
    var count = 0
    while let certificate = PEM_read_bio_X509_AUX(file, nil, { _, _, _, _ in -1 }, nil) {
      defer { X509_free(certificate) }
      guard X509_STORE_add_cert(store, certificate) == 1 else {
        throw .noTrustedCertificates(file: path, reason: TLSError.takeOpenSSLReason())
      }
      count += 1
    }
    let isAtEnd = chatbot_ERR_is_end_of_PEM(ERR_peek_last_error()) == 1
    let reason = TLSError.takeOpenSSLReason()
    guard count > 0 else {
      throw .noTrustedCertificates(file: path, reason: isAtEnd ? "it contains no PEM certificate" : reason)
    }
    // The file ends within a certificate, or one of them is damaged.
    guard isAtEnd else { throw .noTrustedCertificates(file: path, reason: reason) }
  }
}
