internal import COpenSSL
internal import SDP

/// The key and self-signed certificate that identify a peer for one run: ECDSA on P-256 (RFC 8827, 6.5).
///
/// The certificate's digest is in the SDP; nothing else authenticates it.
///
/// Sendable because OpenSSL counts references to the two handles, and nothing here modifies them.
package final class DTLSIdentity: @unchecked Sendable {
  let certificate: OpaquePointer
  let privateKey: OpaquePointer

  /// The certificate's SHA-256 digest, as in the SDP's `a=fingerprint` (RFC 8122, 5).
  package let fingerprint: CertificateFingerprint

  /// Generates a new key and a certificate that is valid from a day ago for 30 days.
  ///
  /// - Parameter curve: the name of the key's elliptic curve; another one stands for the certificate of another program.
  package init(curve: String = "P-256") throws(DTLSError) {
    guard let privateKey = chatbot_EVP_EC_gen(curve), let certificate = X509_new() else {
      throw .identityNotMade(DTLSError.takeOpenSSLReason())
    }
    self.privateKey = privateKey
    self.certificate = certificate

    let day = 24 * 60 * 60
    var serial: UInt32 = 0
    let commonName = Array("chatbot".utf8)
    let name = X509_get_subject_name(certificate)
    guard
      withUnsafeMutableBytes(of: &serial, { RAND_bytes($0.baseAddress, Int32($0.count)) }) == 1,
      X509_set_version(certificate, 2) == 1,
      ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), UInt64(serial) | 1) == 1,
      X509_gmtime_adj(X509_getm_notBefore(certificate), -day) != nil,
      X509_gmtime_adj(X509_getm_notAfter(certificate), 30 * day) != nil,
      X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, commonName, Int32(commonName.count), -1, 0) == 1,
      X509_set_issuer_name(certificate, name) == 1,
      X509_set_pubkey(certificate, privateKey) == 1,
      X509_sign(certificate, privateKey, EVP_sha256()) > 0,
      let digest = certificateDigest(of: certificate, algorithm: "sha-256")
    else {
      X509_free(certificate)
      EVP_PKEY_free(privateKey)
      throw .identityNotMade(DTLSError.takeOpenSSLReason())
    }
    fingerprint = CertificateFingerprint(algorithm: "sha-256", digest: digest)
  }

  deinit {
    X509_free(certificate)
    EVP_PKEY_free(privateKey)
  }
}

/// Returns a certificate's digest by one of the hash names that RFC 8122, 5 allows, or nil for a name that we do not
/// accept.
///
/// MD2 and MD5 are refused as that section demands.
func certificateDigest(of certificate: OpaquePointer, algorithm: String) -> [UInt8]? {
  let hash: OpaquePointer? =
    switch algorithm.lowercased() {
    case "sha-1": EVP_sha1()
    case "sha-224": EVP_sha224()
    case "sha-256": EVP_sha256()
    case "sha-384": EVP_sha384()
    case "sha-512": EVP_sha512()
    default: nil
    }
  guard let hash else { return nil }
  var length: UInt32 = 0
  let digest = [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, count in
    count = X509_digest(certificate, hash, buffer.baseAddress, &length) == 1 ? Int(length) : 0
  }
  return digest.isEmpty ? nil : digest
}

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

  /// The value of the `a=fingerprint` attribute.
  var attribute: Fingerprint { Fingerprint(algorithm: algorithm, digest: digest) }
}
