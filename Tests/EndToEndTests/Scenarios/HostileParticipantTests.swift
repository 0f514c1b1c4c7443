import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// A participant that tries to harm others with signalling messages.
  @Suite("a hostile participant") struct HostileParticipantTests {
    @Test("costs the others no frame and no recording, whatever it sends")
    func says() async throws {
      try await Scenario.run("25 a hostile participant") { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        let recorder = try await scenario.bot(in: "100", of: server, ["--record", folder.path], name: "recorder")
        let play = ["--play", BuiltProgram.sample.path, "--loop"]
        let players = try await [
          scenario.bot(in: "100", of: server, play, name: "player 1"),
          scenario.bot(in: "100", of: server, play, name: "player 2"),
        ]
        try await sleepOnEventLoop(for: .seconds(1))
        let begun = ProcessFigures.processorTime(of: recorder.process.id)
        for attack in HostileMessages.all {
          // A busy server may need a moment for the messages of the attack before.
          let attacker = try await eventually("three others before \"\(attack.name)\"", within: .seconds(10)) {
            let attacker = try await ScriptedParticipant(joining: "100", of: server, in: scenario.network)
            if attacker.others.count == 3 { return attacker }
            try await attacker.leaveAndWait()
            return nil
          }
          for victim in attacker.others {
            // The server may already have closed the connection.
            for message in try attack.texts(victim) { try? await attacker.send(message) }
          }
          try await sleepOnEventLoop(for: .milliseconds(700))
          try await attacker.leaveAndWait()
        }
        try await sleepOnEventLoop(for: .seconds(1))
        #expect(([recorder] + players).allSatisfy { $0.isRunning })
        let spent = (ProcessFigures.processorTime(of: recorder.process.id) ?? .nan) - (begun ?? .nan)
        for player in players { _ = try await player.terminate() }
        #expect(try await recorder.terminate().ending == .exit(0))

        let userRecordings = try folder.userRecordings()
        #expect(userRecordings.count == 2, "one recording for each honest participant, and none was split")
        for userRecording in userRecordings {
          let video = try #require(userRecording.manifest["tracks"].list.first { $0["kind"] == "video" })
          await scenario.note("measured: \(video["frames"].int ?? 0) frames in \(video["duration"].double ?? .nan) s")
          #expect(video["lost"] == 0, .onQuietMachine("no socket overflows"))
          #expect(video["decodeErrors"] == 0)
          let duration = try #require(video["duration"].double)
          #expect(abs(Double(video["frames"].int ?? 0) - 30 * duration) < 3, .onQuietMachine("no frame is missing"))
        }
        let log = recorder.output
        let lines = log.split(separator: "\n").count
        await scenario.note(
          "measured: \(lines) log lines; the recorder used \(String(format: "%.1f", spent)) s of CPU time")
        #expect(!log.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
        #expect(!log.split(separator: "\n").contains { $0.hasPrefix("ERROR") })
        #expect(lines < 300)
      }
    }
  }
}
