import Foundation
import TestSupport

/// One thing that an attacker does.
struct HostileAttack: Sendable {
  let name: String
  /// After this time the attacker continues to the next.
  var limit = Duration.seconds(2)
  /// Takes whom it is done to, and what decides all that is left to chance.
  let carryOut: @Sendable (HostileTarget, SeededGenerator) async throws -> Void

  static let all: [HostileAttack] = messages + descriptions + joining + webSockets + requests + datagrams + programs

  /// Makes the attack. What is not done when its time is over is skipped.
  func make(on target: HostileTarget, seed: UInt64) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await carryOut(target, SeededGenerator(seed: seed)) }
      group.addTask { [limit] in try await sleepOnEventLoop(for: limit) }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// Those of ``HostileMessages``, sent to the recorder and some others.
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
