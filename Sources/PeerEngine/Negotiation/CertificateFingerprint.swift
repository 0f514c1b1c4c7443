internal import SDP

/// The digest of a certificate, as in `a=fingerprint` (RFC 8122, 5).
package struct CertificateFingerprint: Sendable, Hashable {
  /// The hash's name in lower case, for example `sha-256`.
  package var algorithm: String
  package var digest: [UInt8]

  /// - Parameter algorithm: the hash's name in lower case, for example `sha-256`.
  package init(algorithm: String, digest: [UInt8]) {
    self.algorithm = algorithm
    self.digest = digest
  }

  init(_ fingerprint: Fingerprint) {
    self.init(algorithm: fingerprint.algorithm, digest: fingerprint.digest)
  }

  /// The value of the `a=fingerprint` line.
  var attribute: Fingerprint { Fingerprint(algorithm: algorithm, digest: digest) }
}
