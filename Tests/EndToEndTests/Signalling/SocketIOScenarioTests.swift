import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Calls between users of a socket.io server of `Tests/Interop`, of both generations.
  @Suite(
    "calls between users of a socket.io server",
    .enabled(if: !Generation.available.isEmpty || Machine.isCI, Comment(rawValue: Generation.areMissing)))
  struct SocketIOScenarioTests {
    @Test("a bot that is called is checked, records its caller and loops media back", arguments: Generation.tested)
    func callee(_ generation: Generation) async throws {
      try await Scenario.run("33 socket.io \(generation)") { scenario in
        let server = try await PhoneServer(generation, in: scenario)
        let folder = await scenario.recordings()
        let bob = try await scenario.bot(
          "bob", at: server.address, ["--user", "bob", "--record", folder.path] + Scenario.smallPattern)
        let carol = try await scenario.check(
          "carol", at: server.address,
          ["--user", "carol", "--call", "bob", "--content", "pattern"] + Scenario.smallPattern)
        try await SignallingOutcomes.record(.socketIO, .check) { try await scenario.expectHeld(carol) }
        #expect(try await bob.terminate().ending == .exit(0))
        try await SignallingOutcomes.record(.socketIO, .record, .play) {
          let recordings = try folder.userRecordings()
          try #require(recordings.count == 1)
          try #require(recordings[0].webm.file.lastPathComponent == "carol.webm")
          try await scenario.expectGood(recordings[0], seconds: 4, name: "carol")
        }
        let mirror = try await scenario.bot("mirror", at: server.address, ["--user", "mirror", "--loopback"])
        let dora = try await scenario.check(
          "dora", at: server.address, seconds: 3,
          ["--user", "dora", "--call", "mirror", "--content", "returned"] + Scenario.smallPattern)
        try await SignallingOutcomes.record(.socketIO, .loopback) { try await scenario.expectHeld(dora) }
        let skew = try #require(try await dora.verdict().peer()["skew"]["sender"].double)
        #expect(abs(skew) < 0.1, .onQuietMachine("sender reports of looped media relate audio and video"))
        #expect(try await mirror.terminate().ending == .exit(0))
      }
    }

    @Test(
      "a caller whose user is unknown or refuses ends with exit code 69 and one sentence",
      arguments: Generation.tested)
    func refusals(_ generation: Generation) async throws {
      try await Scenario.run("33b socket.io refusals \(generation)") { scenario in
        let server = try await PhoneServer(generation, in: scenario)
        let busy = try await server.phone("222222", "--busy", "9")
        func caller(_ name: String, of user: String) async throws -> Bot {
          try await scenario.start(
            name, ["--server", server.address, "--user", name, "--call", user] + Scenario.smallPattern)
        }
        let callers = try await [caller("bob", of: "333333"), caller("carol", of: "222222")]
        try await scenario.expectRefusal(callers[0], code: 69, saying: "333333")
        try await scenario.expectRefusal(callers[1], code: 69, saying: "222222")
        #expect(busy.output.ranges(of: "call_request").count == 2, "each user is called twice")
      }
    }

    @Test("a phone that calls with audio only is recorded as a valid Ogg", arguments: Generation.tested)
    func phone(_ generation: Generation) async throws {
      try await Scenario.run("33c socket.io phone \(generation)") { scenario in
        let server = try await PhoneServer(generation, in: scenario)
        let folder = await scenario.recordings()
        let bob = try await scenario.bot(
          "bob", at: server.address, ["--user", "bob", "--record", folder.path] + Scenario.smallPattern)
        let phone = try await server.phone("111111", "--call", "bob")
        try await scenario.connected(bob)
        try await sleepOnEventLoop(for: .seconds(4))
        let received = try #require(counts(of: phone))
        #expect(received["audio"].int ?? 0 >= 100, .onQuietMachine("the phone hears the bot"))
        #expect(try await bob.terminate().ending == .exit(0))
        let file = try #require(folder.files("ogg").first)
        #expect(file.lastPathComponent == "111111.ogg")
        let ogg = try Recording(file)
        await scenario.note(
          String(
            format: "measured: %.2f s of audio recorded, %d packets heard by the phone", ogg.duration,
            received["audio"].int ?? 0))
        #expect(ogg.duration >= 3 - (await scenario.stall) / 1000, .onQuietMachine("as long as the call"))
        #expect(try ogg.decodingErrors() == "")
        #expect(try ogg.ogg().isValid)
        #expect(folder.files("webm").allSatisfy { (try? Recording($0).video) == nil }, "there is no video")
      }
    }

    @Test(
      "a call and its recording continue when the server is killed, and a new call succeeds after its restart",
      arguments: Generation.tested)
    func lostServer(_ generation: Generation) async throws {
      try await Scenario.run("33d socket.io server killed \(generation)") { scenario in
        let server = try await PhoneServer(generation, in: scenario)
        let folder = await scenario.recordings()
        let bob = try await scenario.bot(
          "bob", at: server.address, ["--user", "bob", "--record", folder.path] + Scenario.smallPattern)
        let carol = try await scenario.bot(
          "carol", at: server.address, ["--user", "carol", "--call", "bob"] + Scenario.smallPattern)
        try await scenario.connected(bob)
        let connected = ContinuousClock.now
        try await sleepOnEventLoop(for: .seconds(2))
        await server.kill()
        try await scenario.logged("server lost, calls continue", by: bob)
        try await sleepOnEventLoop(for: .seconds(1))
        let reborn = try await PhoneServer(generation, port: server.port, in: scenario)
        try await scenario.joined(bob, times: 2, within: .seconds(15))
        let length = ContinuousClock.now - connected
        #expect(try await carol.terminate().ending == .exit(0))
        try await scenario.logged("call ended", by: bob)
        let dora = try await scenario.bot(
          "dora", at: reborn.address, ["--user", "dora", "--call", "bob"] + Scenario.smallPattern)
        try await scenario.connected(bob, times: 2)
        try await sleepOnEventLoop(for: .seconds(2))
        #expect(try await dora.terminate().ending == .exit(0))
        #expect(try await bob.terminate().ending == .exit(0))
        let recordings = try folder.userRecordings()
        try #require(recordings.map { $0.webm.file.lastPathComponent } == ["carol.webm", "dora.webm"])
        try await scenario.expectGood(
          recordings[0], seconds: length / .seconds(1) - 1, name: "carol, over the loss of the server")
        try await scenario.expectGood(recordings[1], seconds: 1, name: "dora")
      }
    }
  }
}

/// The packets that a phone has received so far, by kind.
private func counts(of phone: ChildProcess) -> JSON? {
  phone.output.split(separator: "\n").last { $0.contains("\"received\"") }
    .flatMap { try? JSON(parsing: String($0)) }?["received"]
}
