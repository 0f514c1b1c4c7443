import HTTPTransport
import ICE
import Media
import NIOHTTP1
import PeerEngine
import Signalling
import TestSupport
import Testing
import WHIP

@Suite("ICE restarts of a player, with the negotiators of both sides")
struct WHEPRestartTests {
  private func negotiator(_ seed: UInt64, sending: Set<MediaKind>, receiving: Set<MediaKind>) -> Negotiator {
    var generator = SeededGenerator(seed: seed)
    let local = LocalDescription(
      fingerprint: CertificateFingerprint(
        algorithm: "sha-256", digest: (0..<32).map { $0 &+ UInt8(truncatingIfNeeded: seed) }),
      candidates: ["candidate:1 1 udp 2130706431 192.0.2.\(seed) 5000 typ host"],
      tracks: .init(sending: sending, receiving: receiving), using: &generator)
    return Negotiator(local: local, isPolite: true, generator: generator)
  }

  /// The description in the newest event of a session.
  private func newest(_ manual: ManualSession) -> SignallingMessage? {
    if case .message(let message, _) = manual.events.last { message } else { nil }
  }

  @Test("our server accepts it: both sides have new credentials and the same media and DTLS roles")
  func ourServer() throws {
    var (player, sender) = (
      negotiator(1, sending: [], receiving: [.audio, .video]), negotiator(2, sending: [.audio, .video], receiving: [])
    )
    var server = ManualServer()
    var client = try ManualSession(.player, url: "http://server.example/whep/100")
    var sessions: [(player: NegotiatedSession, sender: NegotiatedSession)] = []
    func exchange() throws {
      client.send(.offer(player.createOffer()))
      let request = try #require(client.last)
      #expect(server.send(request.method, request.url.target, request.headers, body: client.lastBody) == nil)
      let offer =
        switch server.events.last {
        case .offer(_, .player, let sdp, "100", _), .restart(_, let sdp): sdp
        default: ""
        }
      let reply = try #require(try sender.receivedOffer(offer))
      let response = try server.answer(reply.answer)
      try client.respond(response.status.code, response.headers, body: response.text)
      guard case .answer(let answer) = newest(client) else {
        Issue.record("No answer was delivered.")
        return
      }
      sessions.append((try #require(try player.receivedAnswer(answer)), reply.session))
    }
    try exchange()
    player.restartICE()
    try exchange()
    #expect(client.requests.map(\.request.method) == [.POST, .PATCH])
    #expect(client.log == [])
    let (before, after) = (sessions[0], sessions[1])
    for (old, new) in [(before.player, after.player), (before.sender, after.sender)] {
      #expect(new.isICERestart)
      #expect(new.localCredentials != old.localCredentials)
      #expect(new.remoteUsernameFragment != old.remoteUsernameFragment)
      #expect(new.dtlsRole == old.dtlsRole)
      #expect(new.media == old.media && new.media.count == 2)
    }
    #expect(after.player.remoteUsernameFragment == after.sender.localCredentials.usernameFragment)
    #expect(after.sender.remoteUsernameFragment == after.player.localCredentials.usernameFragment)
    #expect(after.player.remotePassword == after.sender.localCredentials.password)
  }

  @Test("after a counter-offer of the server it is a PATCH too, and media and DTLS roles stay the same")
  func counterOffer() throws {
    var (player, sender) = (
      negotiator(1, sending: [], receiving: [.audio, .video]), negotiator(2, sending: [.audio, .video], receiving: [])
    )
    var client = try ManualSession(.player)
    client.send(.offer(player.createOffer()))
    try client.respond(406, ["Content-Type": "application/sdp", "Location": "/s/1"], body: sender.createOffer())
    guard case .offer(let offer) = newest(client), let reply = try player.receivedOffer(offer) else {
      Issue.record("No offer was delivered.")
      return
    }
    client.send(.answer(reply.answer))
    _ = try #require(try sender.receivedAnswer(client.lastBody))
    try client.respond(204)
    player.restartICE()
    client.send(.offer(player.createOffer()))
    #expect(client.last?.method == .PATCH)
    #expect(client.last?.url.description == "https://whip.example/s/1")
    let fragment = try SDPFragment(parsing: client.lastBody)
    #expect(fragment.credentials?.usernameFragment == player.currentCredentials.usernameFragment)
    try client.respond(200, body: "a=ice-ufrag:289b\r\na=ice-pwd:0b66f472495ef0ccac7bda65\r\n")
    guard case .answer(let answer) = newest(client) else {
      Issue.record("No answer was delivered.")
      return
    }
    let session = try #require(try player.receivedAnswer(answer))
    #expect(session.isICERestart)
    #expect(session.remoteUsernameFragment == "289b")
    #expect(session.dtlsRole == reply.session.dtlsRole)
    #expect(session.media.map(\.receives) == [true, true])
    #expect(session.media.map(\.payloadType) == reply.session.media.map(\.payloadType))
  }
}
