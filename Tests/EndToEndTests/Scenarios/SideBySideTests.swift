import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Recordings of one room, aligned by the starts in their manifests.
  @Suite("recordings side by side") struct SideBySideTests {
    @Test("the flashes of two playing bots are recorded at the time they were sent, to 10 ms")
    func twoPlayers() async throws {
      try await Scenario.run("18 side by side") { scenario in
        let server = try await scenario.server()
        let relay = try await scenario.relay(to: server, seed: 18)
        let folder = await scenario.recordings()
        let recorder = try await scenario.bot(in: "100", of: server, via: relay, ["--record", folder.path])
        let play = ["--play", BuiltProgram.sample.path, "--loop"]
        let players = try await [
          scenario.bot(in: "100", of: server, play, name: "player 1"),
          scenario.bot(in: "100", of: server, play, name: "player 2"),
        ]
        try await sleepOnEventLoop(for: .seconds(10))
        #expect(players.allSatisfy { $0.isRunning })
        let descriptions = try await eventually("two recordings", within: .seconds(5)) {
          folder.files("json").count == 2 ? folder.files("json") : nil
        }
        let users = try descriptions.map { description in
          try JSON(parsing: String(contentsOf: description, encoding: .utf8))["user"].string ?? ""
        }
        var censuses: [RTPCensus] = []
        for user in users { censuses.append(try #require(await relay.census(of: user))) }
        #expect(try await recorder.terminate().ending == .exit(0))

        let sides = try zip(descriptions, censuses).map { description, census in
          let files = try UserFiles(describedBy: description)
          return Side(sent: Self.keyframeMoments(in: census), recorded: try Self.flashMoments(in: files))
        }
        for (user, side) in zip(users, sides) {
          let list = side.errors.map { String(format: "%+.1f", 1000 * $0) }.joined(separator: " ")
          await scenario.note(
            "measured: \(user.prefix(8)): flashes in the recording later than sent by \(list) ms")
          try #require(side.errors.count >= 6)
        }
        // A player that a busy machine schedules too late sends a single flash late; its recorded time is the right one.
        let middles = sides.map { $0.errors.sorted()[$0.errors.count / 2] }
        #expect(
          middles.allSatisfy { abs($0) < 0.010 }, .onQuietMachine("the start in the manifest is exact to 10 ms"))
        await scenario.note(String(format: "measured: between the two %.1f ms", 1000 * abs(middles[0] - middles[1])))
        #expect(abs(middles[0] - middles[1]) < 0.010, .onQuietMachine("both recordings are aligned to 10 ms"))
      }
    }

    /// The times of the same flashes as sent and as recorded, in seconds since 1970.
    private struct Side {
      let sent: [Double]
      let recorded: [Double]

      /// The delay of each flash in the recording.
      var errors: [Double] {
        recorded.compactMap { flash in sent.map { flash - $0 }.min { abs($0) < abs($1) } }.filter { abs($0) < 0.4 }
      }
    }

    /// Returns the times when the first packet of each keyframe passed. The sample flashes with each keyframe and has
    /// no other frame of half its size.
    private static func keyframeMoments(in census: RTPCensus) -> [Double] {
      let frames = census.mostlySent?.frames ?? []
      let largest = frames.map(\.packets).max() ?? 0
      // The first frames for a viewer are older than the time when they pass.
      let settled = (frames.first?.passedAt ?? 0) + 1.5
      return frames.filter { $0.packets * 2 > largest && $0.passedAt > settled }.map(\.passedAt)
    }

    private static func flashMoments(in files: UserFiles) throws -> [Double] {
      let webm = try #require(files.webms.first)
      let begun = try #require(files.manifest.date("start")) + files.start(of: webm)
      return try FlashesAndBeeps(in: webm).flashes.map { $0 + begun }.filter { $0 > begun + 2.5 }
    }
  }
}
