import Foundation
import TestSupport

/// The target of an attack.
struct HostileTarget: Sendable {
  let scenario: Scenario
  let network: Network
  let server: Server
  let room: String
  /// The ids of the honest participants. The first one records the others.
  let honest: [String]
  /// The address where each of them receives media.
  let positions: [String: CandidateText.Endpoint]
  /// The address where the first of them accepts TCP connections.
  let tcpPosition: CandidateText.Endpoint

  /// Returns the recorder and some of the others.
  func victims(_ others: Int = 3, using generator: inout SeededGenerator) -> [String] {
    Array(honest.prefix(1)) + honest.dropFirst().shuffled(using: &generator).prefix(others)
  }

  /// Joins a new attacker to the room.
  func newcomer(claiming claim: [String: JSON] = [:]) async throws -> HostileParticipant {
    try await HostileParticipant(joining: room, of: server, in: network, claiming: claim)
  }
}
