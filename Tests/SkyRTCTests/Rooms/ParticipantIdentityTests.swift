import Foundation
import SkyRTC
import Testing

@Suite("Participant identity")
struct ParticipantIdentityTests {
  @Test("an id is a UUID derived from its secret, and no other secret matches")
  func fits() throws {
    let identity = ParticipantIdentity()
    #expect(UUID(uuidString: identity.id)?.uuidString.lowercased() == identity.id)
    #expect(identity.secret.count == 32)
    #expect(ParticipantIdentity(id: identity.id, secret: identity.secret) == identity)
    let other = ParticipantIdentity()
    #expect(ParticipantIdentity(id: identity.id, secret: other.secret) == nil)
    #expect(ParticipantIdentity(id: other.id, secret: identity.secret) == nil)
  }

  @Test("the id of a secret never changes")
  func isStable() throws {
    let secret = "000102030405060708090a0b0c0d0e0f"
    #expect(ParticipantIdentity(id: Self.known, secret: secret)?.id == Self.known)
  }

  /// Computed by another program: `printf 'skyrtc participant:'` and the 16 bytes into `sha256sum`, then version 8 and
  /// variant 2.
  private static let known = "0f2134f5-014a-8169-a89d-90339396d17b"

  @Test(
    "a malformed secret is rejected",
    arguments: ["", "0", String(repeating: "g", count: 32), String(repeating: "é", count: 16)])
  func noSecret(_ text: String) {
    #expect(ParticipantIdentity(id: ParticipantIdentity().id, secret: text) == nil)
  }
}
