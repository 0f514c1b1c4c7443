import NIOCore
import PeerEngine
import TestSupport
import Testing

@Suite("DTLS")
struct DTLSConnectionTests {
  let alice: DTLSIdentity
  let bob: DTLSIdentity

  init() throws {
    alice = try DTLSIdentity()
    bob = try DTLSIdentity()
  }

  @Test("two connections agree on AES-128-GCM and on each other's keys")
  func agreesOnKeys() throws {
    let handshake = try Handshake(client: alice, server: bob)
    handshake.client.start()
    handshake.run()
    let client = try #require(handshake.client.keys)
    let server = try #require(handshake.server.keys)
    #expect(client.profile == .aes128GCM)
    #expect(client.sending == server.receiving)
    #expect(client.receiving == server.sending)
    #expect(client.sending.count == 28)
    #expect(client.sending != client.receiving)
  }

  @Test("a peer that offers only one protection profile gets that one", arguments: SRTPProfile.allCases)
  func onlyOneProfile(profile: SRTPProfile) throws {
    let handshake = try Handshake(client: alice, server: bob, clientProfiles: [profile])
    handshake.client.start()
    handshake.run()
    let client = try #require(handshake.client.keys)
    let server = try #require(handshake.server.keys)
    #expect(client.profile == profile && server.profile == profile)
    let sender = try SRTPSession(keys: client)
    let receiver = try SRTPSession(keys: server)
    let plain = ByteBuffer(bytes: [0x80, 96, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2] + Array("media".utf8))
    var packet = plain
    try sender.protectRTP(&packet)
    try receiver.unprotectRTP(&packet)
    #expect(packet == plain)
  }

  @Test(
    "a certificate on any curve that other programs use is accepted, whichever side has it",
    arguments: ["P-224", "P-256", "P-384"], [true, false])
  func curves(curve: String, isServer: Bool) throws {
    let other = try DTLSIdentity(curve: curve)
    let handshake = try Handshake(client: isServer ? alice : other, server: isServer ? other : bob)
    handshake.client.start()
    handshake.run()
    #expect(handshake.client.keys != nil, "\(handshake.client.state)")
    #expect(handshake.server.keys != nil, "\(handshake.server.state)")
  }

  @Test("a client refuses a server whose certificate is not the one in the session description")
  func clientRefusesWrongFingerprint() throws {
    let handshake = try Handshake(client: alice, server: bob, clientExpects: [alice.fingerprint])
    handshake.client.start()
    handshake.run()
    #expect(handshake.client.state == .failed(.wrongFingerprint(expected: [alice.fingerprint])))
  }

  @Test("a server refuses a client whose certificate is not the one in the session description")
  func serverRefusesWrongFingerprint() throws {
    let handshake = try Handshake(client: alice, server: bob, serverExpects: [bob.fingerprint])
    handshake.client.start()
    handshake.run()
    #expect(handshake.server.state == .failed(.wrongFingerprint(expected: [bob.fingerprint])))
  }

  @Test("one matching fingerprint among several is enough, and an unknown hash name matches nothing")
  func severalFingerprints() throws {
    let odd = CertificateFingerprint(algorithm: "md5", digest: [])
    let handshake = try Handshake(client: alice, server: bob, clientExpects: [odd, bob.fingerprint])
    handshake.client.start()
    handshake.run()
    #expect(handshake.client.keys != nil)
    let refused = try Handshake(client: alice, server: bob, clientExpects: [odd])
    refused.client.start()
    refused.run()
    #expect(refused.client.state == .failed(.wrongFingerprint(expected: [odd])))
  }

  @Test("no datagram of a handshake is larger than 1,200 bytes")
  func datagramsAreSmall() throws {
    let handshake = try Handshake(client: alice, server: bob)
    handshake.client.start()
    var largest = 0
    handshake.run { datagrams in
      largest = max(largest, datagrams.map(\.readableBytes).max() ?? 0)
      return datagrams
    }
    #expect(handshake.client.keys != nil)
    #expect((1...1200).contains(largest))
  }

  @Test("a lost first flight is retransmitted after about 50 ms")
  func lostFlightIsSentAgain() async throws {
    let handshake = try Handshake(client: alice, server: bob)
    handshake.client.start()
    _ = handshake.client.takeDatagrams()
    let delay = try #require(handshake.client.retransmissionDelay)
    #expect(delay <= .milliseconds(50))
    try await Task.sleep(for: .milliseconds(60))
    handshake.client.handleTimeout()
    handshake.run()
    #expect(handshake.client.keys != nil)
    #expect(handshake.server.keys != nil)
  }

  @Test("Chromium's ClientHello in two datagrams is answered, in either order", arguments: [false, true])
  func answersChromium(reversed: Bool) throws {
    let server = try DTLSConnection(role: .server, identity: bob, expecting: [alice.fingerprint])
    var parts = try ["1", "2"].map {
      try Fixture.bytes("dtls/chromium156-clienthello-\($0)-of-2.bin", in: .module)
    }
    if reversed { parts.reverse() }
    server.receive(parts[0])
    #expect(server.takeDatagrams().isEmpty)
    server.receive(parts[1])
    let answer = server.takeDatagrams()
    #expect(!answer.isEmpty)
    // A handshake record of DTLS 1.2 that begins with a ServerHello.
    #expect(answer.first?.getBytes(at: 0, length: 3) == [22, 0xFE, 0xFD])
    #expect(answer.first?.getInteger(at: 13, as: UInt8.self) == 2)
  }

  @Test("closing a connection closes the other side")
  func closeIsSeen() throws {
    let handshake = try Handshake(client: alice, server: bob)
    handshake.client.start()
    handshake.run()
    handshake.client.close()
    handshake.run()
    #expect(handshake.server.state == .closed)
  }

  @Test("a fatal alert ends the association, and data after it is not kept")
  func fatalAlert() throws {
    let handshake = try Handshake(client: alice, server: bob)
    handshake.client.start()
    handshake.run()
    // The server refuses the renegotiation, and the client responds with a fatal alert.
    handshake.client.requestRenegotiation(showing: alice)
    handshake.run()
    guard case .failed(.aborted) = handshake.server.state else {
      Issue.record("The server's state is \(handshake.server.state).")
      return
    }
    let record = ByteBuffer(bytes: [23, 0xFE, 0xFD] + [UInt8](repeating: 7, count: 1_200))
    for _ in 0..<20_000 { handshake.server.receive(record) }
    #expect(handshake.server.unreadBytes == 0)
  }

  @Test("either role refuses a renegotiation, and the media keys stay the same", arguments: [true, false])
  func renegotiation(byClient: Bool) throws {
    let handshake = try Handshake(client: alice, server: bob)
    handshake.client.start()
    handshake.run()
    let keys = [handshake.client.keys, handshake.server.keys]
    let (asking, asked) = byClient ? (handshake.client, handshake.server) : (handshake.server, handshake.client)
    asking.requestRenegotiation(showing: try DTLSIdentity())
    handshake.run()
    #expect(keys.allSatisfy { $0 != nil })
    #expect(asked.peerDigest == (byClient ? alice : bob).fingerprint.digest)
    #expect(asked.keys == nil || asked.keys == keys[byClient ? 1 : 0])
  }

  @Test("datagrams of random bytes neither stop a handshake nor break an established connection")
  func noiseIsIgnored() throws {
    var generator = SeededGenerator(seed: 7)
    let handshake = try Handshake(client: alice, server: bob)
    func noise() -> ByteBuffer {
      let count = Int.random(in: 1...1400, using: &generator)
      var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      bytes[0] = UInt8.random(in: 20...63, using: &generator)
      return ByteBuffer(bytes: bytes)
    }
    for _ in 0..<200 { handshake.server.receive(noise()) }
    handshake.client.start()
    handshake.run()
    for _ in 0..<2000 {
      handshake.server.receive(noise())
      handshake.client.receive(noise())
    }
    #expect(handshake.client.keys != nil)
    #expect(handshake.server.keys != nil)
  }

  @Test("every identity has its own SHA-256 fingerprint")
  func identitiesDiffer() {
    #expect(alice.fingerprint.algorithm == "sha-256")
    #expect(alice.fingerprint.digest.count == 32)
    #expect(alice.fingerprint != bob.fingerprint)
  }
}
