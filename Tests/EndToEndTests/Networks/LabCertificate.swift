import Foundation
import TestSupport

/// The certificate of a host's addresses, signed by the authority of the laboratory.
struct LabCertificate: Sendable {
  struct NotMade: Error, CustomStringConvertible {
    let errors: String

    var description: String { "openssl made no certificate: \(errors.suffix(600))" }
  }

  let certificate: URL
  let key: URL

  /// Creates an authority, whose certificate programs trust with `--ca-certificate`.
  static func authority(in folder: URL) throws -> LabCertificate {
    let made = LabCertificate(named: "authority", in: folder)
    try made.request("authority of the laboratory")
    return made
  }

  /// Creates a certificate for all addresses of a host, and its name.
  func signing(for host: LabHost, in folder: URL) throws -> LabCertificate {
    let made = LabCertificate(named: host.name, in: folder)
    let addresses = host.uplinks.flatMap { [$0.ipv4, $0.ipv6] }.compactMap(\.self)
    let names = (addresses.map { "IP:\($0)" } + ["DNS:\(host.name)"]).joined(separator: ",")
    try made.request(
      host.name,
      [
        "-CA", certificate.path, "-CAkey", key.path, "-extensions", "v3_req", "-addext", "subjectAltName=\(names)",
      ])
    return made
  }

  private init(named name: String, in folder: URL) {
    certificate = folder.appendingPathComponent("\(name).pem")
    key = folder.appendingPathComponent("\(name)-key.pem")
  }

  private func request(_ subject: String, _ options: [String] = []) throws {
    let made = try ExternalTool.run(
      "openssl",
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
        "-subj", "/CN=\(subject)", "-keyout", key.path, "-out", certificate.path,
      ] + options)
    guard made.status == 0 else { throw NotMade(errors: made.errors) }
  }
}
