import Foundation
import Media
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Honest bots, and a participant who sends video that a decoder cannot trust.
  @Suite("a participant with broken video") struct BrokenStreamTests {
    @Test("whichever byte of its H.264 is broken, eight others are recorded and verified whole")
    func everyByte() async throws {
      try await Scenario.run("35 broken H.264") { scenario in
        let broken = try BrokenH264()
        let room = try await HonestRoom.open(in: scenario, players: 8, playing: ["vp8", "h264"])
        let scout = try await HostileParticipant(joining: HonestRoom.name, of: room.server, in: scenario.network)
        scout.leave()
        let recorder = try #require(scout.others.first)
        let begun = ContinuousClock.now
        let sent = try await broken.send(
          to: ParticipantID(recorder), in: HonestRoom.name, of: room.server, scenario.network)
        let lasted = (ContinuousClock.now - begun).inSeconds
        try await sleepOnEventLoop(for: .milliseconds(500))
        try #require(room.programs.filter { !$0.isRunning }.map(\.process.name) == [])
        let memory = ProcessFigures.peakMemory(of: room.recorder.process.id) ?? .nan
        for player in room.players { #expect(try await player.terminate().ending == .exit(0)) }
        #expect(try await room.recorder.terminate().ending == .exit(0))

        let recordings = try HonestRecording.all(in: room.folder)
        let played = try room.files.map { try PlayedFile($0) }
        let honest = Set(scout.others.dropFirst())
        for user in honest {
          let own = recordings.filter { $0.user == user }
          #expect(own.count == 1, "the recording of \(user) was not split")
          let file = played.first { file in own.contains { $0.hasVideo(in: file.container) } }
          try await own.first?.expectWhole(of: try #require(file), seconds: lasted, in: scenario)
        }
        let attacker = recordings.filter { !honest.contains($0.user) }
        let video = try #require(attacker.first).track("video")
        await scenario.note(
          """
          measured: \(broken.flips.count) broken bytes in \(String(format: "%.1f", lasted)) s, \(sent) packets sent; of the \
          attacker \(video["frames"].int ?? 0) frames recorded, \(video["dropped"].int ?? 0) dropped, \
          \(video["decodeErrors"].int ?? 0) not decoded, \(video["unverified"].int ?? 0) unverified; the recorder had \
          \(String(format: "%.1f", memory)) MiB at most
          """)
        #expect(attacker.count == 1)
        let received = video["received"].int ?? 0
        #expect(received >= broken.packets && video["lost"] == 0, .onQuietMachine("no socket overflows"))
        // Whole frames are recorded as received, and the decoder finds many of the broken ones.
        let errors = video["decodeErrors"].int ?? 0
        #expect(video["frames"].int ?? 0 > broken.flips.count / 2)
        #expect(errors + (video["unverified"].int ?? 0) > broken.flips.count / 10)
        #expect(errors > 0)
        #expect(memory < 400)
        let log = room.recorder.output
        #expect(!log.contains("(SIG"), "no process ended by a signal")
        #expect(log.split(separator: "\n").count < 200)
      }
    }
  }
}
