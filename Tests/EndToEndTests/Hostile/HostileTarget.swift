import Foundation
import TestSupport

/// Whom an attack is made on.
struct HostileTarget: Sendable {
  let scenario: Scenario
  let network: Network
  let server: Server
  let room: String
  /// The ids of those who do nothing wrong. The first records the others.
  let honest: [String]
  /// Where each of them receives media.
  let positions: [String: CandidateText.Place]

  /// The recorder, and some of the others.
  func victims(_ others: Int = 3, using generator: inout SeededGenerator) -> [String] {
    Array(honest.prefix(1)) + honest.dropFirst().shuffled(using: &generator).prefix(others)
  }

  /// Somebody new in the room.
  func newcomer(claiming claim: [String: JSON] = [:]) async throws -> HostileParticipant {
    try await HostileParticipant(joining: room, of: server, in: network, claiming: claim)
  }
}
