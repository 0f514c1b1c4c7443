import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// A browser and a bot behind routers.
  @Suite("calls with a browser through NATs", .enabled(if: Machine.hasNetworkLab)) struct NATBrowserTests {
    @Test(
      "Chromium behind a symmetric NAT is recorded by a bot behind an address restricted one",
      .enabled(if: Machine.hasChromium && Machine.runsWholeNetworkMatrix))
    func chromium() async throws {
      try await NetworkLab.run("Chromium through NATs") { lab in
        try await isRecorded(in: lab) { try await lab.chromium(on: $0) }
      }
    }

    @Test(
      "Chromium behind a firewall without UDP is relayed with credentials of the room server, and the page says so",
      .enabled(if: Machine.hasChromium && Machine.programHasTURN))
    func relayed() async throws {
      try await NetworkLab.run("Chromium through TURN") { lab in
        var options = TURNServer.Options()
        options.sharedSecret = "a-shared-secret"
        let server = try await TURNServer.start(on: lab.internetHost("turn"), of: lab, options)
        let secret = lab.folder.appendingPathComponent("secret")
        try Data("a-shared-secret\n".utf8).write(to: secret)
        let url = "turn:\(server.host.urlHost)"
        let rooms = try await LabRooms.start(
          on: lab.internetHost("rooms"), of: lab,
          ["--ice-server", "\(url)?transport=tcp", "--turn-secret-file", secret.path])
        let home = try await lab.host("home", behind: .portRestricted, firewall: .udpBlocked, families: .ipv4)
        let office = try await lab.host("office", behind: .symmetric, families: .ipv4)
        let folder = RecordingFolder(url: lab.folder.appendingPathComponent("recordings"))
        let bot = try await lab.bot(
          "bot", on: office,
          rooms.options + ["--room", "100", "--ice-server", url, "--turn-secret-file", secret.path]
            + ["--ice-transport-policy", "relay", "--record", folder.path])
        try await eventually("joined bot", within: .seconds(15)) { bot.output.contains(" joined ") ? true : nil }
        let call = try await lab.call(in: lab.chromium(on: home), room: "100", rooms: rooms)
        try await call.connected()
        try await eventually("path on the page", within: .seconds(5)) {
          try await call.paths() == ["relayed"] ? true : nil
        }
        try await sleepOnEventLoop(for: .seconds(4))
        try await call.page.screenshot().write(to: lab.folder.appendingPathComponent("call.png"))
        let report = try #require(try await call.leave().first)
        try await sleepOnEventLoop(for: .milliseconds(500))
        #expect(try await bot.terminate().ending == .exit(0))
        #expect(bot.output.contains(" path=relayed "))
        let judgement = Judgement(
          userRecording: try #require(try folder.userRecordings().first), scenario: lab.scenario, name: call.browser)
        try await judgement.expectGood(of: report)
        #expect(!bot.output.contains("a-shared-secret") && !rooms.bot.output.contains("a-shared-secret"))
      }
    }

    @Test(
      "Chromium behind a firewall that lets out only TCP 443 connects over TCP to a bot with a public address",
      .enabled(if: Machine.hasChromium))
    func chromiumOverTCP() async throws {
      try await NetworkLab.run("Chromium over TCP") { lab in
        try await connectsOverTCP(in: lab) { try await lab.chromium(on: $0) }
      }
    }

    @Test(
      "Firefox behind a firewall that lets out only TCP 443 connects over TCP to a bot with a public address",
      .enabled(if: Machine.hasFirefox && Machine.runsWholeNetworkMatrix))
    func firefoxOverTCP() async throws {
      try await NetworkLab.run("Firefox over TCP") { lab in
        try await connectsOverTCP(in: lab) { try await lab.firefox(on: $0, hidesAddresses: false) }
      }
    }

    /// The bot plays and records, so media flows both ways on the connection that the browser opens.
    private func connectsOverTCP(in lab: NetworkLab, launch: (LabHost) async throws -> any Browser) async throws {
      let rooms = try await LabRooms.start(on: lab.internetHost("rooms"), of: lab)
      let home = try await lab.host("home", behind: .portRestricted, firewall: .onlyTCP443, families: .ipv4)
      let folder = RecordingFolder(url: lab.folder.appendingPathComponent("recordings"))
      let bot = try await lab.bot(
        "bot", on: lab.internetHost("bot"),
        rooms.options + ["--room", "100", "--tcp", "--tcp-port", "443", "--play", BuiltProgram.sample.path]
          + ["--record", folder.path, "--log-level", "debug"])
      try await eventually("joined bot", within: .seconds(15)) { bot.output.contains(" joined ") ? true : nil }
      let call = try await lab.call(in: launch(home), room: "100", rooms: rooms)
      try await call.connected()
      try await sleepOnEventLoop(for: .seconds(5))
      let report = try #require(try await call.leave().first)
      try await sleepOnEventLoop(for: .milliseconds(500))
      #expect(try await bot.terminate().ending == .exit(0))
      #expect(bot.output.contains(" transport=tcp "))
      let userRecording = try #require(try folder.userRecordings().first)
      let judgement = Judgement(userRecording: userRecording, scenario: lab.scenario, name: call.browser)
      try await judgement.expectGood(of: report)
      let connected = (report.connectedAt ?? .nan) - (report.offeredAt ?? .nan)
      await lab.scenario.note(
        "the page was connected \(connected.formatted(.number.precision(.fractionLength(0)))) ms after its offer")
      #expect(connected < 5000 + (await lab.scenario.stall), .onQuietMachine("in milliseconds"))
    }

    private func isRecorded(in lab: NetworkLab, launch: (LabHost) async throws -> any Browser) async throws {
      let server = try await TURNServer.start(on: lab.internetHost("stun"), of: lab)
      let rooms = try await LabRooms.start(on: lab.internetHost("rooms"), of: lab, ["--ice-server", server.stunURL])
      // With IPv6 they would find each other without a NAT.
      let home = try await lab.host("home", behind: .symmetric, families: .ipv4)
      let office = try await lab.host("office", behind: .addressRestricted, families: .ipv4)
      let folder = RecordingFolder(url: lab.folder.appendingPathComponent("recordings"))
      let bot = try await lab.bot(
        "bot", on: office, rooms.options + ["--room", "100", "--ice-server", server.stunURL, "--record", folder.path])
      try await eventually("joined bot", within: .seconds(15)) { bot.output.contains(" joined ") ? true : nil }
      let call = try await lab.call(in: launch(home), room: "100", rooms: rooms)
      try await call.connected()
      try await sleepOnEventLoop(for: .seconds(5))
      let report = try #require(try await call.leave().first)
      try await sleepOnEventLoop(for: .milliseconds(500))
      #expect(try await bot.terminate().ending == .exit(0))
      let userRecording = try #require(try folder.userRecordings().first)
      let judgement = Judgement(userRecording: userRecording, scenario: lab.scenario, name: call.browser)
      try await judgement.expectGood(of: report)
      let connected = (report.connectedAt ?? .nan) - (report.offeredAt ?? .nan)
      await lab.scenario.note(
        "the page was connected \(connected.formatted(.number.precision(.fractionLength(0)))) ms after its offer")
      #expect(connected < 2000 + (await lab.scenario.stall), .onQuietMachine("in milliseconds"))
    }
  }
}
