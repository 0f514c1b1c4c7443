import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Calls of a host whose addresses change: ICE is restarted, and the recording continues.
  @Suite("calls of a host with two uplinks", .enabled(if: Machine.hasNetworkLab)) struct UplinkTests {
    /// The longest gap in the video's times of presentation and the sums of the manifest.
    private func judge(
      _ outcome: NATCall.Outcome, gap limit: Double, restarts: Int, in lab: NetworkLab, _ name: String
    ) async throws {
      let folder = RecordingFolder(url: lab.folder.appendingPathComponent(name))
      #expect(folder.files("webm").count == 1, "one file")
      let recording = try #require(try folder.userRecordings().first)
      let times = try #require(recording.webm.video).times
      let longest = zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? .infinity
      let missing = outcome.video["gaps"].list.reduce(0) { $0 + ($1["frames"].int ?? 0) }
      let offers = outcome.player.output + outcome.recorder.output
      await lab.scenario.note(
        String(
          format: "measured: %@: longest gap %.2f s, %d frames, %d missing, %d restarts", name, longest, outcome.frames,
          missing, offers.components(separatedBy: "ICE is restarted").count - 1))
      #expect(longest <= limit, .onQuietMachine("media continues in time"))
      #expect(abs(outcome.frames + missing - outcome.expectedFrames) <= 2, "the gaps name every missing frame")
      #expect(offers.components(separatedBy: "ICE is restarted").count > restarts)
    }

    /// Returns a host with two uplinks, and the servers that its calls use.
    private static func laptop(in lab: NetworkLab) async throws -> (server: TURNServer, rooms: LabRooms, host: LabHost)
    {
      let server = try await TURNServer.start(on: lab.internetHost("turn"), of: lab)
      let rooms = try await LabRooms.start(on: lab.internetHost("rooms"), of: lab)
      let (first, second) = try await (
        lab.router(.addressRestricted, families: .ipv4), lab.router(.addressRestricted, families: .ipv4)
      )
      return (server, rooms, try await lab.host("laptop", behind: first, second))
    }

    @Test("when the uplink of a call goes away, it continues over the other one")
    func uplinkGone() async throws {
      try await NetworkLab.run("two uplinks") { lab in
        let (server, rooms, laptop) = try await Self.laptop(in: lab)
        let receiver = try await lab.host("receiver", behind: .fullCone, families: .ipv4)
        let call = NATCall(
          name: "uplinks", server: server, rooms: rooms, servers: .stun, options: ["--log-level", "debug"])
        // The room server is reached over the first uplink, which carries no media at first.
        try await laptop.namespace.run(
          """
          nft add table inet media
          nft 'add chain inet media sent { type filter hook output priority 0; }'
          nft add rule inet media sent oifname \(laptop.uplinks[0].device) meta l4proto udp drop
          """)
        let outcome = try await call.run(from: laptop, to: receiver, in: lab) {
          try await sleepOnEventLoop(for: .seconds(2))
          try await laptop.namespace.run("nft delete table inet media")
          try await laptop.uplinks[1].leave()
          try await sleepOnEventLoop(for: .seconds(3))
          try await laptop.uplinks[1].up()
          try await sleepOnEventLoop(for: .seconds(2))
          try await laptop.uplinks[1].setSilent(true)
          try await sleepOnEventLoop(for: .seconds(2))
        }
        try await judge(outcome, gap: 3, restarts: 0, in: lab, call.name)
      }
    }

    /// How a host leaves a network.
    enum Departure: String, CaseIterable, Sendable {
      /// The address is removed, and the interface is down.
      case left
      /// The interface is down and keeps its address, as in the first second after a cable was unplugged.
      case unplugged
      /// The network is silent, and the host is told nothing.
      case silent
    }

    @Test(
      "when a host moves to another network, the signalling moves as well, and the call continues in one file",
      .enabled(if: Machine.runsWholeNetworkMatrix), arguments: Departure.allCases)
    func moves(departure: Departure) async throws {
      try await NetworkLab.run("another network, \(departure)") { lab in
        let (server, rooms, laptop) = try await Self.laptop(in: lab)
        // Its router lets in only what it has sent to, so the new address must be signalled.
        let receiver = try await lab.host("receiver", behind: .portRestricted, families: .ipv4)
        try await laptop.uplinks[1].leave()
        let call = NATCall(
          name: "moves", server: server, rooms: rooms, servers: .stun, options: ["--log-level", "debug"])
        let outcome = try await call.run(from: laptop, to: receiver, in: lab) {
          try await sleepOnEventLoop(for: .seconds(3))
          switch departure {
          case .left, .unplugged:
            if departure == .left {
              try await laptop.uplinks[0].leave()
            } else {
              try await laptop.uplinks[0].down()
            }
            try await laptop.uplinks[1].up()
            try await sleepOnEventLoop(for: .seconds(7))
          case .silent:
            // The network of the radio is out of reach; its address goes only after another one was found.
            try await laptop.uplinks[0].setSilent(true)
            try await sleepOnEventLoop(for: .seconds(3))
            try await laptop.uplinks[1].up()
            try await laptop.uplinks[0].leave()
            try await sleepOnEventLoop(for: .seconds(7))
          }
        }
        try await judge(outcome, gap: departure == .silent ? 6 : 3, restarts: 0, in: lab, call.name)
        #expect(outcome.player.output.contains("server lost, calls continue"))
        #expect(outcome.player.output.ranges(of: " joined others=").count == 2)
      }
    }

    @Test(
      "when the uplink of a WHIP publisher goes away, its session continues over the other one",
      .enabled(if: Machine.runsWholeNetworkMatrix))
    func publisherUplinkGone() async throws {
      try await NetworkLab.run("two uplinks of a publisher") { lab in
        let (server, rooms, laptop) = try await Self.laptop(in: lab)
        // HTTP goes over the first uplink, which carries no media at first.
        try await laptop.namespace.run(
          """
          nft add table inet media
          nft 'add chain inet media sent { type filter hook output priority 0; }'
          nft add rule inet media sent oifname \(laptop.uplinks[0].device) meta l4proto udp drop
          """)
        let (recorder, folder) = try await lab.roomRecorder(rooms: rooms)
        let publisher = try await lab.whipPublisher(on: laptop, rooms: rooms, ["--ice-server", server.stunURL])
        try await sleepOnEventLoop(for: .seconds(3))
        try await laptop.namespace.run("nft delete table inet media")
        try await laptop.uplinks[1].leave()
        try await sleepOnEventLoop(for: .seconds(5))
        #expect(try await recorder.terminate().ending == .exit(0))
        #expect(try await publisher.terminate().ending == .exit(0))
        #expect(publisher.output.contains("ICE is restarted"))
        #expect(!publisher.output.contains("a new session is made"))
        let times = try #require(folder.userRecordings().first?.webm.video).times
        let longest = zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? .infinity
        await lab.scenario.note(String(format: "measured: longest gap %.2f s of %.2f s", longest, times.last ?? 0))
        #expect(folder.files("webm").count == 1, "one file")
        #expect((times.last ?? 0) > 6, "the recording goes on")
        #expect(longest <= 3, .onQuietMachine("media continues in time"))
      }
    }

    @Test(
      "a call with ten restarts of ICE is one file, whose counts agree with its gaps",
      .enabled(if: Machine.runsWholeNetworkMatrix))
    func tenRestarts() async throws {
      try await NetworkLab.run("ten restarts", limit: .seconds(240)) { lab in
        let server = try await TURNServer.start(on: lab.internetHost("turn"), of: lab)
        let rooms = try await LabRooms.start(on: lab.internetHost("rooms"), of: lab)
        let sender = try await lab.host("sender", behind: .addressRestricted, families: .ipv4)
        let receiver = try await lab.host("receiver", behind: .fullCone, families: .ipv4)
        let call = NATCall(name: "restarts", server: server, rooms: rooms, servers: .stun)
        let outcome = try await call.run(from: sender, to: receiver, in: lab) {
          for _ in 0..<10 {
            try await sleepOnEventLoop(for: .seconds(3))
            try await sender.uplinks[0].setSilent(true)
            try await sleepOnEventLoop(for: .seconds(6))
            try await sender.uplinks[0].setSilent(false)
            try await sleepOnEventLoop(for: .seconds(4))
          }
        }
        // Both sides notice the silence, and their offers may clash.
        let restarts = [outcome.player, outcome.recorder].map {
          $0.output.components(separatedBy: "ICE is restarted").count - 1
        }
        let folder = RecordingFolder(url: lab.folder.appendingPathComponent(call.name))
        #expect(folder.files("webm").count == 1, "one file")
        let manifest = try JSON(parsing: String(contentsOf: try #require(folder.files("json").first), encoding: .utf8))
        await lab.scenario.note(
          "measured: \(restarts[0]) and \(restarts[1]) restarts, \(outcome.frames) frames in \(outcome.length) s")
        #expect(restarts.max() ?? 0 >= 10)
        #expect(outcome.length > 125, "the recording is as long as the call")
        #expect(manifest["tracks"].list.count == 2)
        for track in manifest["tracks"].list {
          func count(_ name: String) -> Int { track[name].int ?? -1 }
          func gaps(_ name: String) -> Int { track["gaps"].list.reduce(0) { $0 + ($1[name].int ?? 0) } }
          let kind = track["kind"].string ?? ""
          #expect(count("sent") == count("packets") + count("lost"), "\(kind): what was sent has arrived or is lost")
          #expect(gaps("packets") == count("lost") + count("late"), "\(kind): the gaps name every packet")
          #expect(gaps("frames") == count("dropped"), "\(kind): the gaps name every frame that was not written")
        }
      }
    }

    @Test(
      "a bot that may use one interface uses no other one, also while that one has no address",
      .enabled(if: Machine.runsWholeNetworkMatrix))
    func onlyOneInterface() async throws {
      try await NetworkLab.run("one of two uplinks") { lab in
        let (server, rooms, laptop) = try await Self.laptop(in: lab)
        let receiver = try await lab.host("receiver", behind: .none, families: .ipv4)
        let (other, used) = (laptop.uplinks[0], laptop.uplinks[1])
        // Without the rules a datagram takes the default route, over the first uplink, whatever its source address is.
        try await laptop.namespace.run(
          """
          for uplink in \(other.ipv4 ?? "") \(used.ipv4 ?? ""); do ip rule del from $uplink; done
          nft add table inet uplink
          nft 'add chain inet uplink sent { type filter hook output priority 0; }'
          nft add rule inet uplink sent oifname \(other.device) meta l4proto udp counter drop
          nft add rule inet uplink sent oifname \(other.device) tcp dport 3478 counter drop
          """)
        var calls = [NATCall.Servers.stun, .relay(.udp), .relay(.tcp)].map { servers in
          NATCall(name: "\(servers)".file, server: server, rooms: rooms, servers: servers)
        }
        for index in calls.indices {
          calls[index].senderOptions = ["--bind-interface", used.device, "--log-level", "debug"]
        }
        let outcomes = try await concurrently(calls) { try await $0.run(from: laptop, to: receiver, in: lab) }
        for (call, outcome) in zip(calls, outcomes) {
          await lab.scenario.note("\(call.name): \(outcome.frames) of \(outcome.expectedFrames) frames")
          #expect(outcome.frames > 0 && outcome.frames == outcome.expectedFrames, "\(call.name)")
          #expect(!outcome.player.output.contains(other.ipv4 ?? ""), "\(call.name)")
        }
        #expect(outcomes.map(\.candidateTypes) == ["srflx, host", "relay, relay", "relay, relay"])
        var moving = NATCall(name: "moving", server: server, rooms: rooms, servers: .stun)
        moving.senderOptions = calls[0].senderOptions
        let moved = try await moving.run(from: laptop, to: receiver, in: lab) {
          try await sleepOnEventLoop(for: .seconds(2))
          try await used.leave()
          try await sleepOnEventLoop(for: .seconds(2))
          try await used.up()
          try await sleepOnEventLoop(for: .seconds(6))
        }
        try await judge(moved, gap: 8, restarts: 0, in: lab, moving.name)
        #expect(!moved.player.output.contains(other.ipv4 ?? ""))
        let (diagnosis, status) = try await lab.diagnose(
          on: laptop,
          ["--bind-interface", used.device, "--ice-server", server.stunURL]
            + [TURNServer.Transport.udp, .tcp].flatMap { ["--ice-server", server.turnURL($0)] })
        let text = Comment(rawValue: (try? diagnosis.text) ?? "")
        #expect(diagnosis["stun"].list.map { $0["isReachable"].bool } == [true], text)
        #expect(diagnosis["turn"].list.map { $0["returnsData"].bool } == [true, true], text)
        let interfaces = diagnosis["interfaces"].list
        #expect(Set(interfaces.filter { $0["isUsed"].bool == true }.map { $0["name"].string }) == [used.device], text)
        #expect(status == 0, text)
        let counters = try await laptop.namespace.run("nft list chain inet uplink sent")
        #expect(counters.components(separatedBy: "packets 0 bytes 0").count == 3, "\(counters)")
      }
    }

    @Test("an interface that does not exist or has no address is an error when the program starts")
    func noInterface() async throws {
      try await NetworkLab.run("no such interface") { lab in
        let host = try await lab.host("host", behind: lab.router(.portRestricted, families: .ipv4))
        try await host.uplinks[0].leave()
        for (name, sentence) in [
          ("eth7", "This machine has no interface 'eth7'."), ("eth0", "The interface eth0 has no address, or is down."),
        ] {
          let bot = try await lab.bot(
            "bot-\(name)", on: host,
            ["--room", "1", "--record", lab.folder.appendingPathComponent("unused").path, "--bind-interface", name])
          #expect(try await bot.ending(within: .seconds(20)) == .exit(64))
          #expect(bot.output.contains(sentence), "\(bot.output)")
        }
        let diagnosis = try await lab.bot("diagnosis", on: host, ["diagnose", "--bind-interface", "eth7"])
        #expect(try await diagnosis.ending(within: .seconds(20)) == .exit(64))
        #expect(diagnosis.output.contains("This machine has no interface 'eth7'."), "\(diagnosis.output)")
      }
    }
  }
}
