import Media
import PeerEngine
import Signalling
import Testing

@Suite("Another certificate under a known id")
struct RemoteConnectionIdentityTests {
  @Test("is not admitted beside the known certificate")
  func besideTheKnownCertificate() throws {
    func offer(_ fingerprints: String...) -> String {
      var lines = [
        "v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "m=audio 9 UDP/TLS/RTP/SAVPF 111", "c=IN IP4 0.0.0.0",
      ]
      lines += ["a=ice-ufrag:abcd", "a=ice-pwd:abcdefghijklmnopqrstuvwx", "a=rtcp-mux", "a=rtpmap:111 opus/48000/2"]
      for byte in fingerprints {
        let digest = Array(repeating: byte, count: 32).joined(separator: ":")
        lines.append("a=fingerprint:sha-256 \(digest)")
      }
      return lines.joined(separator: "\r\n") + "\r\n"
    }
    // The id may belong to somebody else by now, so each description of another connection needs a new engine.
    let engine = PeerConnection(
      PeerConnection.Configuration(
        participant: ParticipantID("anna"), identity: try DTLSIdentity(), localAddresses: [EnginePair.aliceAddress],
        isPolite: true),
      offers: false)
    engine.received(.offer(offer("0A")), now: .now)
    try #require(engine.state == .connecting, "the offer is answered")
    #expect(!engine.needsNewEngine(forOffer: offer("0a")))
    #expect(engine.needsNewEngine(forOffer: offer("0A", "0B")))
    #expect(engine.needsNewEngine(forOffer: offer("0B")), "with the credentials of ICE")
  }
}
