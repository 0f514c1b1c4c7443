internal import COpenSSL
internal import Media

/// Why we do not accept the certificate of a peer, as a clause.
package struct TLSCertificateRejection: Sendable, Hashable, CustomStringConvertible {
  /// The name or the address that the certificate had to be for; empty if none was expected.
  package var host: String
  /// OpenSSL's `X509_V_ERR_…`, and its text.
  package var code: Int32
  package var text: String
  /// The distinguished names of the certificate that is not accepted, and of the authority that signed it.
  package var subject: String
  package var issuer: String
  /// The DNS names and addresses that the certificate of the peer is for.
  package var names: [String]
  /// Whether they are those of another host, whatever else is the matter.
  package var isForAnother: Bool

  /// How many names of a certificate the description shows.
  private static let maximumShownNames = 5

  package var description: String {
    switch code {
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
      names.isEmpty
        ? "its certificate (\(subject)) is not for \(host): it has \(Self.noNames)"
        : "its certificate is for \(shownNames), not for \(host)"
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      "its certificate (\(subject)) is self-signed and not trusted; --ca-certificate names a file of certificates to trust"
        + otherName
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
      X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      "its certificate is signed by an authority that is not trusted (\(issuer)); --ca-certificate names a file of "
        + "certificates to trust" + otherName
    case X509_V_ERR_CERT_HAS_EXPIRED: "its certificate (\(subject)) has expired"
    case X509_V_ERR_CERT_NOT_YET_VALID: "its certificate (\(subject)) is not valid yet; is the clock right?"
    default: "its certificate (\(subject)) is not accepted: \(text)"
    }
  }

  private static let noNames = "no subject alternative names, and common names do not count"

  /// What remains wrong when the certificate is trusted.
  private var otherName: String {
    guard isForAnother, !host.isEmpty else { return "" }
    return names.isEmpty
      ? "; even then it is not for \(host), because it has \(Self.noNames)"
      : "; even then it is for \(shownNames), not for \(host)"
  }

  private var shownNames: String {
    let shown = names.prefix(Self.maximumShownNames).joined(separator: ", ")
    let more = names.count - Self.maximumShownNames
    return more > 0 ? "\(shown) and \(more) more" : shown
  }
}

extension TLSCertificateRejection {
  /// Reads the result of a verification that failed.
  init(of store: OpaquePointer, host: String) {
    self.host = host.printable(utf8Bytes: 253)
    let code = X509_STORE_CTX_get_error(store)
    self.code = code
    text = String(cString: X509_verify_cert_error_string(Int(code)))
    let current = X509_STORE_CTX_get_current_cert(store) ?? X509_STORE_CTX_get0_cert(store)
    subject = current.map { X509Text.name(X509_get_subject_name($0)) } ?? ""
    issuer = current.map { X509Text.name(X509_get_issuer_name($0)) } ?? ""
    let own = X509_STORE_CTX_get0_cert(store)
    names = own.map { X509Text.names(of: $0) } ?? []
    isForAnother = own.map { !TLSSession.accepts($0, for: host) } ?? false
  }
}
