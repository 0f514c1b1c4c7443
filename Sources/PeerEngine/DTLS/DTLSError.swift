internal import COpenSSL

/// Why a DTLS connection could not be made or had to end.
package enum DTLSError: Error, Sendable, Hashable, CustomStringConvertible {
  case identityNotMade(String)
  case notSetUp(String)
  case handshakeFailed(String)
  case noCertificate
  case wrongFingerprint(expected: [CertificateFingerprint])
  case noProtectionProfile
  case keysNotExported(String)
  /// A fatal alert, or what deserves one, after the handshake.
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

  /// The newest reason in this thread's OpenSSL error queue, which is emptied.
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
