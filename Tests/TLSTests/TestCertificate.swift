import COpenSSL
import FoundationEssentials
import NIOCore

/// A certificate with its key in PEM files, which are removed with it.
final class TestCertificate {
  struct Failure: Error {}

  let certificateFile: String
  let keyFile: String
  private let certificate: OpaquePointer
  private let key: OpaquePointer

  /// - Parameters:
  ///   - names: as OpenSSL writes them, for example `DNS:a.example` or `IP:127.0.0.1`.
  ///   - issuer: the authority that signs it; nil if it signs itself.
  ///   - days: its validity from yesterday on; negative if it has expired.
  init(
    _ commonName: String, names: [String] = [], isAuthority: Bool = false, issuer: TestCertificate? = nil,
    days: Int = 30
  ) throws {
    guard let key = chatbot_EVP_EC_gen("P-256"), let certificate = X509_new(), let subject = X509_NAME_new() else {
      throw Failure()
    }
    (self.key, self.certificate) = (key, certificate)
    let folder = FileManager.default.temporaryDirectory
    let name = UUID().uuidString
    certificateFile = folder.appendingPathComponent("\(name).pem").path
    keyFile = folder.appendingPathComponent("\(name)-key.pem").path
    defer { X509_NAME_free(subject) }
    X509_set_version(certificate, 2)
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), Int.random(in: 1...Int(Int32.max)))
    X509_gmtime_adj(X509_getm_notBefore(certificate), -86_400 * (days < 0 ? 100 : 1))
    X509_gmtime_adj(X509_getm_notAfter(certificate), 86_400 * days)
    // MBSTRING_UTF8, a macro that Swift cannot see.
    X509_NAME_add_entry_by_txt(subject, "CN", 0x1000, commonName, -1, -1, 0)
    X509_set_subject_name(certificate, subject)
    X509_set_issuer_name(certificate, issuer.map { X509_get_subject_name($0.certificate) } ?? subject)
    X509_set_pubkey(certificate, key)
    if isAuthority { try add(NID_basic_constraints, "critical,CA:TRUE") }
    if !names.isEmpty { try add(NID_subject_alt_name, names.joined(separator: ",")) }
    guard X509_sign(certificate, issuer?.key ?? key, EVP_sha256()) > 0 else { throw Failure() }
    try write(certificateFile) { PEM_write_bio_X509($0, certificate) }
    try write(keyFile) { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
  }

  deinit {
    X509_free(certificate)
    EVP_PKEY_free(key)
    try? FileManager.default.removeItem(atPath: certificateFile)
    try? FileManager.default.removeItem(atPath: keyFile)
  }

  private func add(_ kind: Int32, _ value: String) throws {
    guard let part = X509V3_EXT_conf_nid(nil, nil, kind, value) else { throw Failure() }
    defer { X509_EXTENSION_free(part) }
    X509_add_ext(certificate, part, -1)
  }

  private func write(_ path: String, _ body: (OpaquePointer) -> Int32) throws {
    guard let file = BIO_new_file(path, "w") else { throw Failure() }
    defer { BIO_free(file) }
    guard body(file) == 1 else { throw Failure() }
  }
}
