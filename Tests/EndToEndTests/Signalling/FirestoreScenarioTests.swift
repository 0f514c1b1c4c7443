import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Calls through documents of a Firestore database, which is a program of `Tests/Interop`.
  @Suite("calls through documents of Firestore") struct FirestoreScenarioTests {
    @Test("host and guest of a room check and record each other, and a killed guest is connected again")
    func room() async throws {
      try await Scenario.run("32 Firestore") { scenario in
        let store = try await Store(in: scenario)
        let (hostFolder, guestFolder) = await (scenario.recordings("host"), scenario.recordings("guest"))
        let host = try await store.bot("host", store.host, Scenario.smallPattern + ["--record", hostFolder.path])
        let check = try await store.check("guest check", store.guest)
        try await SignallingOutcomes.record(.firestore, .check) { try await scenario.expectHeld(check) }
        let guest = try await store.bot(
          "guest", store.guest, Scenario.smallPattern + ["--record", guestFolder.path])
        try await scenario.connected(guest)
        try await scenario.connected(host, times: 2)
        try await sleepOnEventLoop(for: .seconds(4))
        guest.process.signal(SIGKILL)
        _ = try await guest.ending(within: .seconds(5))
        let killed = ContinuousClock.now
        let second = try await store.bot("second guest", store.guest, Scenario.smallPattern)
        try await scenario.connected(second, within: .seconds(20))
        let back = ContinuousClock.now - killed
        await scenario.note("measured: connected again \(back.formatted(.units(allowed: [.seconds]))) after the kill")
        try await scenario.connected(host, times: 3)
        try await sleepOnEventLoop(for: .seconds(4))
        #expect(try await host.terminate().ending == .exit(0))
        #expect(try await second.terminate().ending == .exit(0))
        try await SignallingOutcomes.record(.firestore, .record, .play) {
          let recordings = try hostFolder.userRecordings()
          // Nothing verifies that the second guest, with another certificate, is the first one.
          try #require(recordings.count == 3, "the check, the killed guest, and the second one")
          for recording in recordings {
            try await scenario.expectGood(
              recording, seconds: 3.5, name: "host's \(recording.webm.file.lastPathComponent)")
          }
        }
        // The killed guest left unfinished files.
        #expect(!guestFolder.files("webm").isEmpty || !guestFolder.files("part").isEmpty)
      }
    }

    @Test("a host checks its guest, and media is looped back")
    func loopback() async throws {
      try await Scenario.run("32b Firestore loopback") { scenario in
        let store = try await Store(in: scenario)
        let mirror = try await store.bot("mirror", store.host, ["--loopback"])
        let check = try await store.check("returned", store.guest, content: "returned")
        try await SignallingOutcomes.record(.firestore, .loopback) { try await scenario.expectHeld(check) }
        #expect(try await mirror.terminate().ending == .exit(0))
        let guest = Task { try await store.bot("guest", store.guest, Scenario.smallPattern) }
        let hostCheck = try await store.check("host check", store.host)
        try await scenario.expectHeld(hostCheck)
        _ = try await guest.value
      }
    }

    @Test("a person calls another one, and both record each other")
    func persons() async throws {
      try await Scenario.run("32d Firestore persons") { scenario in
        let store = try await Store(in: scenario)
        var bots: [Bot] = []
        var folders: [RecordingFolder] = []
        for (name, peer, role) in [("jerry", "tom", "callee"), ("tom", "jerry", "caller")] {
          let folder = await scenario.recordings(name)
          folders.append(folder)
          bots.append(
            try await store.bot(
              name, store.person(name, with: peer, role), Scenario.smallPattern + ["--record", folder.path]))
        }
        for bot in bots { try await scenario.connected(bot) }
        try await sleepOnEventLoop(for: .seconds(4))
        for bot in bots { #expect(try await bot.terminate().ending == .exit(0)) }
        for (folder, name) in zip(folders, ["tom", "jerry"]) {
          let recordings = try folder.userRecordings()
          try #require(recordings.count == 1)
          #expect(recordings[0].manifest["name"] == .string(name))
          try await scenario.expectGood(recordings[0], seconds: 3, name: name)
        }
      }
    }

    @Test("of two programs without a role that start at once, one becomes the host of the room and the other its guest")
    func withoutRoles() async throws {
      try await Scenario.run("32e Firestore without roles") { scenario in
        let store = try await Store(in: scenario)
        for round in 0..<3 {
          let address = store.room("room\(round)", "create=yes")
          let bots = try await [
            store.start("first \(round)", address, Scenario.smallPattern),
            store.start("second \(round)", address, Scenario.smallPattern),
          ]
          for bot in bots { try await scenario.connected(bot, within: .seconds(20)) }
          let guests = bots.count { $0.output.contains("user=guest") && $0.output.contains("joined others=0") }
          await scenario.note("measured: round \(round): \(guests) became a guest")
          for bot in bots { #expect(try await bot.terminate().ending == .exit(0)) }
        }
      }
    }

    @Test("a call and its recording continue without the server")
    func lostServer() async throws {
      try await Scenario.run("32c Firestore server killed") { scenario in
        let store = try await Store(in: scenario)
        let folder = await scenario.recordings()
        let host = try await store.bot("host", store.host, Scenario.smallPattern)
        let guest = try await store.bot("guest", store.guest, ["--record", folder.path])
        try await scenario.connected(guest)
        let connected = ContinuousClock.now
        try await sleepOnEventLoop(for: .seconds(2))
        await store.kill()
        try await scenario.logged("server lost, calls continue", by: guest)
        try await sleepOnEventLoop(for: .seconds(4))
        let length = ContinuousClock.now - connected
        let ended = try await guest.terminate()
        #expect(ended.ending == .exit(0))
        await scenario.note(
          "measured: ended \(ended.after.formatted(.units(allowed: [.milliseconds]))) after the signal")
        #expect(ended.after < .seconds(6 + (await scenario.stall) / 1000))
        #expect(try await host.terminate().ending == .exit(0))
        let recordings = try folder.userRecordings()
        #expect(recordings.count == 1)
        try await scenario.expectGood(
          try #require(recordings.first), seconds: length / .seconds(1) - 1, name: "without the server")
      }
    }
  }
}
