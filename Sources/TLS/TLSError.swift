internal import COpenSSL

/// Why a TLS connection could not be set up or had to end.
package enum TLSError: Error, Sendable, Hashable, CustomStringConvertible {
  /// OpenSSL rejects our settings or has no memory.
  case notSetUp(String)
  /// The file with the certificates to trust cannot be read, or contains none.
  case noTrustedCertificates(file: String, reason: String)
  /// The file with our own certificate cannot be used.
  case unusableCertificate(file: String, reason: String)
  /// The file with our own private key cannot be used, or is for another certificate.
  case unusableKey(file: String, reason: String)
  /// We do not accept the certificate of the peer.
  case certificateRejected(TLSCertificateRejection)
  /// The peers do not agree, or one of them did not follow the protocol.
  case handshakeFailed(String)
  /// The peer closed the connection, or TLS by a `close_notify`, before the handshake was complete.
  case endedDuringHandshake
  /// The connection ended without a `close_notify`, so that data may be missing (RFC 8446, 6.1).
  case truncated
  /// After the handshake a record was not valid, or the peer sent a fatal alert.
  case aborted(String)

  package var description: String {
    switch self {
    case .notSetUp: "TLS cannot be used: \(reason)."
    case .noTrustedCertificates(let file, _): "The certificates in \(file) cannot be read: \(reason)."
    case .unusableCertificate(let file, _): "The TLS certificate in \(file) cannot be used: \(reason)."
    case .unusableKey(let file, _): "The TLS key in \(file) cannot be used: \(reason)."
    case .certificateRejected, .handshakeFailed, .endedDuringHandshake: "The TLS handshake failed: \(reason)."
    case .truncated: "The TLS connection was cut off: \(reason)."
    case .aborted: "The TLS connection failed: \(reason)."
    }
  }

  /// The reason alone, as a clause.
  package var reason: String {
    switch self {
    case .notSetUp(let reason), .handshakeFailed(let reason), .aborted(let reason): reason
    case .noTrustedCertificates(_, let reason), .unusableCertificate(_, let reason), .unusableKey(_, let reason): reason
    case .certificateRejected(let rejection): rejection.description
    case .endedDuringHandshake: "the peer closed the connection before the handshake was complete"
    case .truncated: "the peer ended it without a close_notify"
    }
  }

  /// Returns the newest reason in this thread's OpenSSL error queue and empties the queue. A reason that says something is preferred
  /// to one that only names a part of OpenSSL.
  static func takeOpenSSLReason() -> String {
    var chosen: UInt = 0
    while true {
      let code = ERR_get_error()
      if code == 0 { break }
      if chosen == 0 || ERR_COMMON_ERROR(code) == 0 || ERR_COMMON_ERROR(chosen) != 0 { chosen = code }
    }
    guard chosen != 0, let text = ERR_reason_error_string(chosen) else { return "OpenSSL gives no reason" }
    return clause(String(cString: text))
  }

  /// The reason of bytes that are no record of TLS, for example those of an HTTP server without it.
  package static let notTLS = "what arrived is not TLS"

  /// OpenSSL's reason for a message that is not allowed at its place, and for records of types that TLS does not have.
  static let unexpectedMessage = "unexpected message"

  /// OpenSSL's reason in words that say what it means for the user.
  private static func clause(_ reason: String) -> String {
    if let range = reason.firstRange(of: " alert ") { return clause(ofAlert: String(reason[range.upperBound...])) }
    return switch reason {
    // What OpenSSL says of bytes that are no record.
    case "wrong version number", "http request", "https proxy request", "packet length too long": notTLS
    case "unsupported protocol", "no protocols available", "version too low":
      "the peer has neither TLS 1.2 nor TLS 1.3"
    case "no shared cipher", "no ciphers available": "both sides have no cipher suite in common"
    case "peer did not return a certificate": "the peer sent no certificate"
    default: reason
    }
  }

  /// An alert of the peer (RFC 8446, 6.2).
  private static func clause(ofAlert name: String) -> String {
    let meaning: String? =
      switch name {
      case "protocol version": "it has neither TLS 1.2 nor TLS 1.3"
      case "handshake failure", "insufficient security":
        "it accepts none of our cipher suites, or requires a certificate"
      case "certificate required", "no certificate": "it requires a certificate of its clients"
      case "unknown ca", "bad certificate", "certificate unknown", "unsupported certificate", "certificate expired",
        "certificate revoked":
        "it does not accept our certificate"
      case "unrecognized name", "tlsv1 unrecognized name": "it has no certificate for this host name"
      default: nil
      }
    return "the peer sent the alert “\(name)”" + (meaning.map { ": \($0)" } ?? "")
  }
}
