import Foundation
import Testing

@testable import SkyRTC

@Suite("The identity of a participant")
struct ParticipantIdentityTests {
  @Test("an id is a UUID that is made from its secret, and no other secret fits")
  func fits() throws {
    let identity = ParticipantIdentity()
    #expect(UUID(uuidString: identity.id)?.uuidString.lowercased() == identity.id)
    #expect(identity.secret.count == 32)
    #expect(ParticipantIdentity(id: identity.id, secret: identity.secret) == identity)
    let other = ParticipantIdentity()
    #expect(ParticipantIdentity(id: identity.id, secret: other.secret) == nil)
    #expect(ParticipantIdentity(id: other.id, secret: identity.secret) == nil)
  }

  @Test("the same secret has given the same id for ever")
  func isStable() throws {
    let secret = "000102030405060708090a0b0c0d0e0f"
    #expect(ParticipantIdentity(id: Self.known, secret: secret)?.id == Self.known)
  }

  /// By another program: `printf 'skyrtc participant:'` and the 16 bytes into `sha256sum`, then version 8 and variant 2.
  private static let known = "0f2134f5-014a-8169-a89d-90339396d17b"

  @Test(
    "what is no secret gives nothing",
    arguments: ["", "0", String(repeating: "g", count: 32), String(repeating: "é", count: 16)])
  func noSecret(_ text: String) {
    #expect(ParticipantIdentity(id: ParticipantIdentity().id, secret: text) == nil)
  }
}
