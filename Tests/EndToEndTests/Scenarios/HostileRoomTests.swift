import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Several honest bots, and one attacker with one attack after another.
  @Suite("a hostile room") struct HostileRoomTests {
    private static func number(_ name: String) -> Double? {
      ProcessInfo.processInfo.environment[name].flatMap(Double.init)
    }

    @Test("costs the honest bots no frame and no recording, whatever the attacker does")
    func attacks() async throws {
      let seconds = Self.number("CHATBOT_HOSTILE_SECONDS") ?? 15
      let seed = Self.number("CHATBOT_HOSTILE_SEED").map { UInt64($0) } ?? 1
      try await Scenario.run("28 a hostile room", limit: .seconds(120 + seconds)) { scenario in
        let room = try await HonestRoom.open(in: scenario)
        let target = try await room.target()
        let begun = ContinuousClock.now
        let tracker = try await Self.attack(target, room, until: begun + .seconds(seconds), seed: seed)
        try await sleepOnEventLoop(for: .seconds(1))
        let lasted = (ContinuousClock.now - begun).inSeconds
        for line in tracker.lines { await scenario.note(line) }
        await scenario.note("measured: \(tracker.count) attacks in \(Int(lasted)) s, chosen by seed \(seed)")
        #expect(tracker.complaints == [])
        try #require(room.programs.filter { !$0.isRunning }.map(\.process.name) == [])
        let last = try await target.newcomer()
        last.leave()
        #expect(last.others == target.honest, "the honest participants are still in the room, and no others")
        try await Self.judgeCost(room, lasted: lasted)
        let players = room.players.compactMap { ProcessFigures.processorTime(of: $0.process.id) }.reduce(0, +)
        await scenario.note(String(format: "measured: all players together: %.1f s of CPU time", players))

        for player in room.players { #expect(try await player.terminate().ending == .exit(0)) }
        #expect(try await room.recorder.terminate().ending == .exit(0))
        let recordings = try HonestRecording.all(in: room.folder)
        let played = try PlayedFile(room.files[0])
        let users = target.honest.dropFirst()
        await scenario.note("measured: \(recordings.count - users.count) recordings of the attacker")
        for user in users {
          let own = recordings.filter { $0.user == user }
          #expect(own.count == 1, "the recording of \(user) was not split")
          try await own.first?.expectWhole(of: played, seconds: lasted, in: scenario)
        }
      }
    }

    /// Carries out all attacks in random order, and again until the time is over.
    private static func attack(
      _ target: HostileTarget, _ room: HonestRoom, until end: ContinuousClock.Instant, seed: UInt64
    ) async throws -> AttackReport {
      var generator = SeededGenerator(seed: seed)
      var tracker = AttackReport(room: room)
      var left = HostileAttack.all.shuffled(using: &generator)
      while ContinuousClock.now < end || tracker.count < HostileAttack.all.count {
        if left.isEmpty { left = HostileAttack.all.shuffled(using: &generator) }
        let attack = left.removeLast()
        let begun = ContinuousClock.now
        var problem: (any Error)?
        do {
          try await attack.make(on: target, seed: generator.next())
        } catch {
          problem = error
        }
        try await sleepOnEventLoop(for: .milliseconds(50))
        tracker.add(attack.name, after: (ContinuousClock.now - begun).inSeconds, error: problem)
        if !tracker.complaints.isEmpty, !room.programs.allSatisfy(\.isRunning) { break }
      }
      return tracker
    }

    /// Checks memory, CPU time and the log, with wide margins.
    private static func judgeCost(_ room: HonestRoom, lasted: Double) async throws {
      for (name, bot, limit) in [("recorder", room.recorder, 400.0), ("server", room.server.bot, 200)] {
        let memory = ProcessFigures.peakMemory(of: bot.process.id) ?? .nan
        let time = ProcessFigures.processorTime(of: bot.process.id) ?? .nan
        let log = bot.output
        let lines = log.split(separator: "\n")
        await room.scenario.note(
          String(
            format: "measured: %@: at most %.1f MiB of memory, %.1f s of CPU time, %d log lines", name, memory,
            time, lines.count))
        #expect(memory < limit, "\(name)")
        #expect(!log.unicodeScalars.contains(where: isHarmful), "\(name): control characters")
        #expect(!lines.contains { $0.hasPrefix("ERROR") }, "\(name): forged lines")
        let prefix = "2026-03-01T09:30:00.000Z ".count
        #expect(!lines.contains { $0.dropFirst(prefix).hasPrefix("ERROR") }, "\(name): errors")
      }
      // Each participant that joins and leaves causes one line for each step.
      let steps = ["INFO    user ", "INFO    call ended"]
      let others = room.recorder.output.split(separator: "\n").filter { line in !steps.contains { line.contains($0) } }
      await room.scenario.note("measured: \(others.count) lines of the recorder's log do not report joins or leaves")
      #expect(Double(others.count) < 100 + 5 * lasted, "the recorder's log")
    }

    /// Whether a terminal would interpret a character instead of showing it.
    private static func isHarmful(_ character: Unicode.Scalar) -> Bool {
      character != "\n" && character.properties.generalCategory == .control
        || character.properties.isBidiControl
    }
  }
}
