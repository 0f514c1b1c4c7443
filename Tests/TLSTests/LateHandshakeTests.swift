import COpenSSL
import NIOCore
import Testing

@testable import TLS

@Suite("TLS sessions after the handshake")
struct LateHandshakeTests {
  private let client: TLSSession
  private let server: TLSSession

  init() throws {
    let certificate = try TestCertificate("a.example", names: ["DNS:a.example"])
    client = try TLSSession(client: TLSContext(trusting: .file(certificate.certificateFile)), host: "a.example")
    server = try TLSSession(
      server: TLSContext(certificateFile: certificate.certificateFile, keyFile: certificate.keyFile))
    for _ in 0..<4 {
      _ = client.handshake()
      carry(from: client, to: server)
      _ = server.handshake()
      carry(from: server, to: client)
    }
    try #require(client.handshake() == .done && server.handshake() == .done)
  }

  private func carry(from one: TLSSession, to other: TLSSession) {
    if let bytes = one.takeCiphertext() { other.receive(bytes) }
  }

  /// Updates the client's keys, and asks the server for new ones.
  private func updateKeys() {
    SSL_key_update(client.ssl, SSL_KEY_UPDATE_REQUESTED)
    SSL_do_handshake(client.ssl)
    carry(from: client, to: server)
  }

  private func read() -> (result: TLSSession.ReadResult, bytes: Int) {
    var data = ByteBuffer()
    let result = server.read(into: &data, limit: 1 << 20)
    return (result, data.readableBytes)
  }

  @Test("some updates of keys are answered, and data follows")
  func someUpdates() {
    for _ in 0..<10 { updateKeys() }
    let before = read()
    #expect(before.result == .needsInput && before.bytes == 0)
    var data = ByteBuffer(repeating: 1, count: 1_000)
    let progress = client.write(&data)
    #expect(progress == .done)
    carry(from: client, to: server)
    let after = read()
    #expect(after.result == .needsInput && after.bytes == 1_000)
  }

  @Test("a peer that only updates keys is given up")
  func flood() {
    for _ in 0..<40 { updateKeys() }
    let end = read()
    #expect(end.result == .failed(.aborted("the peer sends too many messages of a handshake")))
  }

  @Test("updates of keys between much data are no flood")
  func updatesBetweenData() {
    for _ in 0..<100 {
      updateKeys()
      var data = ByteBuffer(repeating: 1, count: 8_192)
      _ = client.write(&data)
      carry(from: client, to: server)
      let one = read()
      #expect(one.result == .needsInput && one.bytes == 8_192)
    }
  }
}
