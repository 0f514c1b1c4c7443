import ICE
import Media
import PeerEngine
import RTP
import Signalling
import TestSupport
import Testing

@Suite("Related addresses of candidates")
struct RelatedAddressTests {
  private static let relay = RelayedAddress(
    address: TransportAddress(ip: .v4(0xCB00_7109), port: 50_000),
    mapped: TransportAddress(ip: .v4(0xC633_6407), port: 40_000),
    server: TransportAddress(ip: .v4(0xCB00_7109), port: 3_478), preference: 300)

  private func signalled(hides: Bool) throws -> String {
    let identity = try DTLSIdentity()
    var configuration = PeerConnection.Configuration(
      participant: "bob", identity: identity, localAddresses: [], isPolite: true)
    configuration.policy.ice.hidesRelatedAddresses = hides
    let engine = PeerConnection(configuration, offers: true)
    let now = MonotonicInstant.now
    engine.addRelayed(Self.relay, now: now)
    engine.offer(now: now)
    return "\(engine.poll(now: now, wallClock: .init(secondsSince1970: 0)))"
  }

  @Test("an offer names the mapped address of a relay, unless addresses are hidden")
  func offer() throws {
    let open = try signalled(hides: false)
    #expect(open.contains("203.0.113.9 50000 typ relay raddr 198.51.100.7 rport 40000"))
    let hidden = try signalled(hides: true)
    #expect(hidden.contains("203.0.113.9 50000 typ relay raddr 0.0.0.0 rport 9"))
    #expect(!hidden.contains("198.51.100.7"))
  }
}
