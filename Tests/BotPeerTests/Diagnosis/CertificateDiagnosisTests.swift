import BotPeer
import Foundation
import Testing

@Suite("Diagnosis of certificates")
struct CertificateDiagnosisTests {
  /// Self-signed, for `CN = a.example`, valid from 2020 to 2120, without extensions. Made with `openssl ca -selfsign`.
  private static let common = """
    -----BEGIN CERTIFICATE-----
    MIIBETCBuAIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlhLmV4YW1wbGUwIBcN
    MjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMMCWEuZXhh
    bXBsZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABAMKVal/NW0sbYxkzGHA1Tnx
    CTFwZrW0I41II0Fz2ukE1EBmyueNMjvsaM0OdoPucQhPguHQqtxuJhavx4Usap4w
    CgYIKoZIzj0EAwIDSAAwRQIgOa/O9vis9xpx7Mei/cu9Z1BflLIJCd4bBLFCI8Ut
    R1kCIQDmlMhZt20CO5D5R0NubcSr0LbJ9dR9KzaASbqhbCo0tQ==
    -----END CERTIFICATE-----

    """

  /// The same, with the subject alternative name `DNS:b.example`.
  private static let named = """
    -----BEGIN CERTIFICATE-----
    MIIBUDCB9qADAgECAgECMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCWEuZXhhbXBs
    ZTAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFDESMBAGA1UEAwwJ
    YS5leGFtcGxlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEBO11Aeh3mAQaFm/y
    SDTb8xKiObTO1IpJnxSFLzUtqDcBKMeKQwJGrz3fHoJS4JNUFxbSDBccRHO70pmD
    3qwhJ6M3MDUwFAYDVR0RBA0wC4IJYi5leGFtcGxlMB0GA1UdDgQWBBSKD+uhRnna
    a/nJjy1sgw+pM7qLxjAKBggqhkjOPQQDAgNJADBGAiEA0atDoYCMn5dOqiT/Lg9F
    w+WawvaZvb9bhHCfjv+3s8MCIQDAtJbgfuN1k8nKHDHeFrEqtTZAdoGPWKds4U+S
    IrqeNA==
    -----END CERTIFICATE-----

    """

  /// Verifies a certificate that is itself trusted.
  private func diagnosis(of certificate: String, host: String) throws -> CertificateDiagnosis {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).pem")
    try Data(certificate.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let base64 = certificate.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
    let chain = [Array(try #require(Data(base64Encoded: base64)))]
    return CertificateDiagnosis.verifying(chain, host: host, caCertificate: file.path)
  }

  @Test("a common name does not count, and the problem says that other names are missing")
  func commonName() throws {
    let diagnosis = try diagnosis(of: Self.common, host: "a.example")
    #expect(diagnosis.subject == "CN = a.example")
    #expect(diagnosis.expiry == "2120-01-01T00:00:00Z")
    #expect(!diagnosis.isTrusted)
    #expect(diagnosis.problem == "it has no subject alternative names, and common names do not count")
  }

  @Test("a subject alternative name counts, and a common name beside it does not")
  func alternativeName() throws {
    let own = try diagnosis(of: Self.named, host: "b.example")
    #expect(own.isTrusted)
    #expect(own.problem == nil)
    let other = try diagnosis(of: Self.named, host: "a.example")
    #expect(!other.isTrusted)
    #expect(other.problem == "hostname mismatch")
  }
}
