import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// The uplink of one side goes away in calls whose signalling is not a room: ICE is restarted, and the recording continues.
  @Suite(
    "other calls of a host with two uplinks",
    .enabled(if: Machine.hasNetworkLab), .enabled(if: Machine.runsWholeNetworkMatrix))
  struct SignallingUplinkTests {
    /// Expects one file that goes on, and states the longest gap in the video's times of presentation.
    private func expectContinued(_ folder: RecordingFolder, in lab: NetworkLab) async throws {
      #expect(folder.files("webm").count == 1, "one file")
      let times = try #require(folder.userRecordings().first?.webm.video).times
      let longest = zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? .infinity
      await lab.scenario.note(String(format: "measured: longest gap %.2f s of %.2f s", longest, times.last ?? 0))
      #expect((times.last ?? 0) > 6, "the recording goes on")
      #expect(longest <= 3, .onQuietMachine("media continues in time"))
    }

    @Test(
      "when the uplink of a side of a socket.io call goes away, the call continues over the other one",
      .enabled(if: Generation.available.contains(.fourth)), arguments: ["caller", "callee"])
    func socketIOCall(_ role: String) async throws {
      try await NetworkLab.run("two uplinks of a socket.io \(role)") { lab in
        let turn = try await TURNServer.start(on: lab.internetHost("turn"), of: lab)
        let server = try await lab.phoneServer(on: lab.internetHost("calls"))
        let (first, second) = try await (
          lab.router(.addressRestricted, families: .ipv4), lab.router(.addressRestricted, families: .ipv4)
        )
        let laptop = try await lab.host("laptop", behind: first, second)
        let receiver = try await lab.host("receiver", behind: .fullCone, families: .ipv4)
        // The server is reached over the first uplink, which carries no media at first.
        try await laptop.namespace.run(
          """
          nft add table inet media
          nft 'add chain inet media sent { type filter hook output priority 0; }'
          nft add rule inet media sent oifname \(laptop.uplinks[0].device) meta l4proto udp drop
          """)
        let folder = RecordingFolder(url: lab.folder.appendingPathComponent("recordings"))
        let options = ["--server", server, "--ice-server", turn.stunURL, "--log-level", "debug"]
        let player = options + ["--user", "player", "--play", BuiltProgram.sample.path]
        let recorder = options + ["--user", "recorder", "--record", folder.path]
        let (playing, recording): (Bot, Bot)
        if role == "caller" {
          recording = try await lab.caller("recorder", on: receiver, recorder)
          playing = try await lab.caller("player", on: laptop, player + ["--call", "recorder"])
        } else {
          playing = try await lab.caller("player", on: laptop, player)
          recording = try await lab.caller("recorder", on: receiver, recorder + ["--call", "player"])
        }
        try await lab.scenario.connected(recording, within: .seconds(15))
        try await sleepOnEventLoop(for: .seconds(3))
        try await laptop.namespace.run("nft delete table inet media")
        try await laptop.uplinks[1].leave()
        try await sleepOnEventLoop(for: .seconds(5))
        #expect(try await recording.terminate().ending == .exit(0))
        #expect(try await playing.terminate().ending == .exit(0))
        #expect(playing.output.contains("ICE is restarted"))
        #expect(recording.output.ranges(of: " user connecting ").count == 1, "one call")
        try await expectContinued(folder, in: lab)
      }
    }

    @Test(
      "when nothing passes between both sides of a socket.io call for 8 s, ICE is restarted, and the call continues",
      .enabled(if: Generation.available.contains(.fourth)))
    func silentCall() async throws {
      try await NetworkLab.run("silence in a socket.io call") { lab in
        let server = try await lab.phoneServer(on: lab.internetHost("calls"))
        let (sender, receiver) = try await (lab.internetHost("sender"), lab.internetHost("receiver"))
        let folder = RecordingFolder(url: lab.folder.appendingPathComponent("recordings"))
        let options = ["--server", server, "--log-level", "debug"]
        let recording = try await lab.caller(
          "recorder", on: receiver, options + ["--user", "recorder", "--record", folder.path])
        let playing = try await lab.caller(
          "player", on: sender,
          options + ["--user", "player", "--call", "recorder", "--play", BuiltProgram.sample.path])
        try await lab.scenario.connected(recording, within: .seconds(15))
        try await sleepOnEventLoop(for: .seconds(3))
        // The connections to the server stay. Both notice the silence, and who gets the other's offer first answers it.
        try await sender.namespace.run(
          """
          nft add table inet media
          nft 'add chain inet media sent { type filter hook output priority 0; }'
          nft 'add chain inet media received { type filter hook input priority 0; }'
          nft add rule inet media sent meta l4proto udp drop
          nft add rule inet media received meta l4proto udp drop
          """)
        try await sleepOnEventLoop(for: .seconds(8))
        try await sender.namespace.run("nft delete table inet media")
        try await sleepOnEventLoop(for: .seconds(6))
        #expect(try await recording.terminate().ending == .exit(0))
        #expect(try await playing.terminate().ending == .exit(0))
        #expect([playing, recording].contains { $0.output.contains("ICE is restarted") })
        #expect(recording.output.ranges(of: " user connecting ").count == 1, "one call")
        #expect(folder.files("webm").count == 1, "one file")
        let webm = try #require(folder.userRecordings().first?.webm)
        let times = try #require(webm.video).times
        let apart = (times.last ?? 0) - (try #require(webm.audio).times.last ?? 0)
        #expect(abs(apart) < 0.3, .onQuietMachine("audio and video, which arrive late, are in sync again"))
        let afterwards = times.count { $0 > 12 }
        await lab.scenario.note(
          String(format: "measured: %d frames after the silence, of %.2f s", afterwards, times.last ?? 0))
        #expect(afterwards > 30, .onQuietMachine("media continues after the silence"))
      }
    }

    @Test("when the only uplink in use of a WHEP player goes away, its session continues over the other one")
    func player() async throws {
      try await NetworkLab.run("two uplinks of a player") { lab in
        let rooms = try await LabRooms.start(on: lab.internetHost("rooms"), of: lab)
        let (first, second) = try await (
          lab.router(.addressRestricted, families: .ipv4), lab.router(.portRestricted, families: .ipv4)
        )
        let laptop = try await lab.host("laptop", behind: first, second)
        let publisher = try await lab.whipPublisher(on: lab.internetHost("publisher"), rooms: rooms, [])
        // Both media and HTTP go over the first uplink, until it is not there any more.
        try await laptop.namespace.run(
          """
          nft add table inet media
          nft 'add chain inet media sent { type filter hook output priority 0; }'
          nft add rule inet media sent oifname \(laptop.uplinks[1].device) meta l4proto udp drop
          """)
        let folder = RecordingFolder(url: lab.folder.appendingPathComponent("recordings"))
        let player = try await lab.caller(
          "player", on: laptop,
          ["--server", "whep+https://\(rooms.host.urlHost)/whep/100", "--record", folder.path]
            + ["--ca-certificate", rooms.authority.certificate.path, "--log-level", "debug"])
        try await lab.scenario.connected(player, within: .seconds(15))
        try await sleepOnEventLoop(for: .seconds(3))
        try await laptop.namespace.run("nft delete table inet media")
        try await laptop.uplinks[0].leave()
        try await sleepOnEventLoop(for: .seconds(5))
        #expect(try await player.terminate().ending == .exit(0))
        #expect(try await publisher.terminate().ending == .exit(0))
        #expect(player.output.contains("ICE is restarted"))
        #expect(!player.output.contains("a new session is made"))
        try await expectContinued(folder, in: lab)
      }
    }
  }
}
