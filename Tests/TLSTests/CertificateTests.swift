import COpenSSL
import NIOCore
import TLS
import Testing

@Suite("Certificates of TLS")
struct CertificateTests {
  private let authority: TestCertificate

  init() throws { authority = try TestCertificate("The Authority", isAuthority: true) }

  /// Returns why a client rejects the certificate; nil if it accepts it.
  private func rejection(
    of certificate: TestCertificate, for host: String, trusting: TLSContext.Trust? = nil
  ) throws -> String? {
    let pair = try TLSPair(
      client: TLSContext(trusting: trusting ?? .file(authority.certificateFile)),
      server: TLSContext(certificateFile: certificate.certificateFile, keyFile: certificate.keyFile), host: host
    ).connect()
    guard let error = pair.client.observer.errors.first else {
      #expect(pair.client.observer.handshakes == 1)
      return nil
    }
    #expect(pair.client.observer.handshakes == 0)
    guard case .certificateRejected = error else { return "another error: \(error)" }
    return error.reason
  }

  @Test(
    "a host name must be one of the certificate's",
    arguments: [
      ("a.example", true), ("A.Example", true), ("a.example.", true), ("x.b.example", true), ("b.example", false),
      ("x.y.b.example", false), ("127.0.0.1", true), ("127.0.0.2", false), ("::1", true), ("0:0::1", true),
      ("::2", false),
      ("fxx.c.example", false), ("localhost", false),
    ])
  func names(host: String, isAccepted: Bool) throws {
    let certificate = try TestCertificate(
      "localhost", names: ["DNS:a.example", "DNS:*.b.example", "DNS:f*.c.example", "IP:127.0.0.1", "IP:::1"],
      issuer: authority)
    let reason = try rejection(of: certificate, for: host)
    #expect(
      reason
        == (isAccepted
          ? nil
          : "its certificate is for a.example, *.b.example, f*.c.example, 127.0.0.1, 0:0:0:0:0:0:0:1, not for \(host)"))
  }

  @Test("a certificate without subject alternative names is for no host", arguments: ["a.example", "127.0.0.1"])
  func commonName(host: String) throws {
    let certificate = try TestCertificate(host, issuer: authority)
    #expect(
      try rejection(of: certificate, for: host)
        == "its certificate (CN = \(host)) is not for \(host): it has no subject alternative names, and common names do not "
        + "count")
  }

  @Test("a common name beside other names does not count")
  func furtherCommonName() throws {
    let certificate = try TestCertificate("a.example", names: ["DNS:b.example"], issuer: authority)
    #expect(try rejection(of: certificate, for: "a.example") == "its certificate is for b.example, not for a.example")
    let address = try TestCertificate("a.example", names: ["IP:127.0.0.1"], issuer: authority)
    #expect(try rejection(of: address, for: "a.example") == "its certificate is for 127.0.0.1, not for a.example")
  }

  @Test("only trusted authorities count, and the option that names them is shown")
  func untrusted() throws {
    let other = try TestCertificate("Another Authority", isAuthority: true)
    let signed = try TestCertificate("a.example", names: ["DNS:a.example"], issuer: other)
    #expect(
      try rejection(of: signed, for: "a.example")
        == "its certificate is signed by an authority that is not trusted (CN = Another Authority); --ca-certificate names "
        + "a file of certificates to trust")
    let own = try TestCertificate("a.example", names: ["DNS:a.example"])
    let reason =
      "its certificate (CN = a.example) is self-signed and not trusted; --ca-certificate names a file of certificates to trust"
    #expect(try rejection(of: own, for: "a.example") == reason)
    #expect(try rejection(of: own, for: "a.example", trusting: .system) == reason)
    #expect(try rejection(of: own, for: "a.example", trusting: .file(own.certificateFile)) == nil)
    #expect(try rejection(of: own, for: "b.example", trusting: .noVerification) == nil)
    #expect(try rejection(of: own, for: "b.example") == reason + "; even then it is for a.example, not for b.example")
    let nameless = try TestCertificate("a.example")
    #expect(
      try rejection(of: nameless, for: "a.example")
        == reason
        + "; even then it is not for a.example, because it has no subject alternative names, and common names do "
        + "not count")
  }

  @Test("an expired certificate is rejected")
  func expired() throws {
    let certificate = try TestCertificate("a.example", names: ["DNS:a.example"], issuer: authority, days: -1)
    #expect(
      try rejection(of: certificate, for: "a.example")
        == "its certificate (CN = a.example) has expired")
  }

  @Test("the peer learns that its certificate was rejected")
  func alert() throws {
    let certificate = try TestCertificate("a.example", names: ["DNS:a.example"])
    let pair = try TLSPair(
      client: TLSContext(trusting: .file(authority.certificateFile)),
      server: TLSContext(certificateFile: certificate.certificateFile, keyFile: certificate.keyFile)
    ).connect()
    #expect(pair.server.observer.errors.count == 1)
    #expect(
      pair.server.observer.errors.first?.reason
        == "the peer sent the alert “unknown ca”: it does not accept our certificate")
  }

  @Test("a verification of our own decides instead", arguments: [true, false])
  func verification(accepts: Bool) throws {
    let certificate = try TestCertificate("b.example", names: ["DNS:b.example"], issuer: authority)
    var chains: [[[UInt8]]] = []
    let pair = try TLSPair(
      client: TLSContext(trusting: .system),
      server: TLSContext(certificateFile: certificate.certificateFile, keyFile: certificate.keyFile),
      verification: {
        chains.append($0)
        return accepts
      }
    ).connect()
    #expect(chains.count == 1)
    #expect(chains.first?.count == 1)
    #expect(chains.first?.first?.first == 0x30)
    #expect(pair.client.observer.handshakes == (accepts ? 1 : 0))
    #expect(pair.client.observer.errors.count == (accepts ? 0 : 1))
  }

  @Test("a name is sent as the Server Name Indication, an address is not")
  func serverName() throws {
    let context = try TLSContext(trusting: .noVerification)
    for (host, isSent) in [("name.example", true), ("192.0.2.1", false), ("2001:db8::1", false)] {
      let session = try TLSSession(client: context, host: host)
      #expect(session.handshake() == .needsInput)
      let hello = session.takeCiphertext().map { Array(buffer: $0) } ?? []
      let name = Array("name.example".utf8)
      let isFound = hello.indices.contains { hello[$0...].starts(with: name) }
      #expect(isFound == isSent)
      #expect(!hello.indices.contains { hello[$0...].starts(with: Array(host.utf8)) } || isSent)
    }
  }

  @Test(
    "hosts that cannot be compared are rejected at once",
    arguments: [
      "", ".", "a\u{0}b", String(repeating: "a", count: 254),
    ])
  func hosts(host: String) throws {
    let context = try TLSContext(trusting: .system)
    #expect(throws: TLSError.self) { try TLSHandler(client: context, host: host) }
  }

  @Test("files that cannot be used are named with a reason")
  func files() throws {
    let own = try TestCertificate("a.example")
    let other = try TestCertificate("a.example")
    #expect(throws: TLSError.noTrustedCertificates(file: own.keyFile, reason: "it contains no PEM certificate")) {
      try TLSContext(trusting: .file(own.keyFile))
    }
    #expect(throws: TLSError.noTrustedCertificates(file: "/nowhere.pem", reason: "no such file")) {
      try TLSContext.checkTrustedCertificates(inFile: "/nowhere.pem")
    }
    #expect(throws: TLSError.unusableKey(file: other.keyFile, reason: "key values mismatch")) {
      try TLSContext(certificateFile: own.certificateFile, keyFile: other.keyFile)
    }
    #expect(throws: TLSError.unusableCertificate(file: own.keyFile, reason: "no start line")) {
      try TLSContext(certificateFile: own.keyFile, keyFile: own.keyFile)
    }
    try TLSContext.checkTrustedCertificates(inFile: own.certificateFile)
  }
}
