import Foundation
import TestSupport

/// One action of an attacker.
struct HostileAttack: Sendable {
  let name: String
  /// After this time the attacker continues with the next attack.
  var limit = Duration.seconds(2)
  /// Called with the target and with the generator of all random choices.
  let carryOut: @Sendable (HostileTarget, SeededGenerator) async throws -> Void

  static let all: [HostileAttack] = messages + descriptions + joining + webSockets + requests + datagrams + programs

  /// Carries out the attack, and stops it when its time is over.
  func make(on target: HostileTarget, seed: UInt64) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await carryOut(target, SeededGenerator(seed: seed)) }
      group.addTask { [limit] in try await sleepOnEventLoop(for: limit) }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// The ``HostileMessages``, sent to the recorder and some others.
  private static let messages = HostileMessages.all.map { messages in
    HostileAttack(name: messages.name) { target, generator in
      var generator = generator
      let attacker = try await target.newcomer()
      defer { attacker.leave() }
      for victim in target.victims(using: &generator) { await attacker.send(try messages.texts(victim)) }
      try await sleepOnEventLoop(for: .milliseconds(300))
    }
  }
}
