import Foundation
import TestSupport
import Testing

/// Joins that must not affect other participants.
extension HostileAttack {
  static let joining = [
    theft(name: "the id of a participant without its secret", secret: nil),
    theft(name: "the id of a participant with a wrong secret", secret: String(repeating: "0f", count: 16)), storm,
    stormWithOffers, roomNames,
  ]

  private static func theft(name: String, secret: String?) -> HostileAttack {
    HostileAttack(name: name) { target, _ in
      for victim in target.honest {
        let secret = secret.map { JSON.string($0) } ?? .null
        let thief = try await target.newcomer(claiming: ["you": .string(victim), "secret": secret])
        defer { thief.leave() }
        #expect(!target.honest.contains(thief.id), "an id in use is not assigned")
        #expect(Set(thief.others).isSuperset(of: target.honest), "all participants are still in the room")
        // The same again, after joining the room.
        let again: JSON = ["room": .string(target.room), "you": .string(victim), "secret": secret]
        let offer = try HostileDescription.offer(HostileDescription.video, to: target.honest[0])
        await thief.send([try JSON.object(["eventName": "__join", "data": again]).text, offer])
      }
    }
  }

  private static let storm = HostileAttack(name: "twenty joins and leaves a second", limit: .seconds(1)) { target, _ in
    while true {
      try await sleepOnEventLoop(for: .milliseconds(25))
      let attacker = try await target.newcomer()
      defer { attacker.leave() }
      try await sleepOnEventLoop(for: .milliseconds(25))
    }
  }

  /// Each offer starts a call.
  private static let stormWithOffers = HostileAttack(name: "twenty calls a second", limit: .seconds(1)) { target, _ in
    while true {
      let attacker = try await target.newcomer()
      defer { attacker.leave() }
      await attacker.send(try target.honest.map { try HostileDescription.offer(HostileDescription.video, to: $0) })
      try await sleepOnEventLoop(for: .milliseconds(50))
    }
  }

  private static let roomNames = HostileAttack(name: "room names with escapes") { target, _ in
    let names = [
      "\u{1B}]0;owned\u{07}", "\nERROR forged", "\u{202E}room", "\u{0}", String(repeating: "\u{9B}", count: 128),
    ]
    for name in names {
      let attacker = try await HostileParticipant(joining: name, of: target.server, in: target.network)
      defer { attacker.leave() }
      // No participant may be reached across rooms.
      await attacker.send(try target.honest.map { try HostileDescription.offer(HostileDescription.video, to: $0) })
    }
  }
}
