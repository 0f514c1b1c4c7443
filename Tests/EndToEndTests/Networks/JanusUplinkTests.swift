import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Rooms of a Janus server in which hosts change their addresses: ICE is restarted, and the recording continues.
  @Suite(
    "hosts with two uplinks in a room of a Janus server",
    .enabled(if: Machine.hasNetworkLab && Machine.runsWholeNetworkMatrix),
    .enabled(if: JanusProcess.isInstalled || Machine.isCI, Comment(rawValue: JanusProcess.isMissing)))
  struct JanusUplinkTests {
    /// What the uplink carries that goes away.
    enum Traffic: String, CaseIterable, Sendable {
      case media, mediaAndSignalling
    }

    /// Whose network loses all media, or everything, and for how long.
    struct Silence: Sendable, CustomStringConvertible {
      var isOfRecorder: Bool
      var seconds: Int
      var includesSignalling = false

      static let all =
        [10, 40].flatMap { [Silence(isOfRecorder: false, seconds: $0), Silence(isOfRecorder: true, seconds: $0)] }
        + [Silence(isOfRecorder: true, seconds: 40, includesSignalling: true)]

      var description: String {
        "\(seconds) s of \(includesSignalling ? "complete " : "")silence of the \(isOfRecorder ? "recorder" : "publisher")"
      }
    }

    /// A host with two uplinks, of which one carries no media at first.
    private struct Laptop {
      let host: LabHost
      /// The number of the uplink that carries the media.
      let used: Int

      /// - Parameter traffic: What the second or the first uplink carries. The first one always has the signalling.
      init(_ name: String, _ traffic: Traffic, in lab: NetworkLab) async throws {
        let (first, second) = try await (
          lab.router(.addressRestricted, families: .ipv4), lab.router(.addressRestricted, families: .ipv4)
        )
        host = try await lab.host(name, behind: first, second)
        used = traffic == .media ? 1 : 0
        try await host.namespace.run(
          """
          nft add table inet media
          nft 'add chain inet media sent { type filter hook output priority 0; }'
          nft add rule inet media sent oifname \(host.uplinks[1 - used].device) meta l4proto udp drop
          """)
      }

      /// Lets the other uplink carry media, and removes the used one.
      func changeUplink() async throws {
        try await host.namespace.run("nft delete table inet media")
        try await host.uplinks[used].leave()
      }
    }

    /// Starts a bot that publishes and one that records, and waits until both are connected.
    private func bots(
      on sender: LabHost, _ receiver: LabHost, at address: String, _ server: TURNServer, in lab: NetworkLab
    ) async throws -> (publisher: Bot, recorder: Bot, folder: RecordingFolder) {
      let options = ["--server", address, "--room", "1234", "--ice-server", server.stunURL, "--log-level", "debug"]
      let publisher = try await lab.bot(
        "publisher", on: sender, options + ["--user", "Anna", "--play", BuiltProgram.sample.path])
      let folder = RecordingFolder(url: lab.folder.appendingPathComponent("recordings"))
      let recorder = try await lab.bot("recorder", on: receiver, options + ["--record", folder.url.path])
      for bot in [publisher, recorder] {
        try await eventually("connected bots", within: .seconds(15)) {
          bot.output.contains(" user connected ") ? true : nil
        }
      }
      return (publisher, recorder, folder)
    }

    @Test(
      "when the uplinks of publisher and recorder go away, media continues over the other ones, in one file",
      arguments: Traffic.allCases)
    func uplinksGone(traffic: Traffic) async throws {
      try await NetworkLab.run("uplinks in a Janus room, \(traffic)") { lab in
        let server = try await TURNServer.start(on: lab.internetHost("turn"), of: lab)
        let (address, janus) = try await JanusProcess.start(on: lab.internetHost("janus"), of: lab)
        let (sender, receiver) = (
          try await Laptop("sender", traffic, in: lab), try await Laptop("receiver", traffic, in: lab)
        )
        let (publisher, recorder, folder) = try await bots(on: sender.host, receiver.host, at: address, server, in: lab)
        for laptop in [sender, receiver] {
          try await sleepOnEventLoop(for: .seconds(4))
          try await laptop.changeUplink()
        }
        try await sleepOnEventLoop(for: .seconds(6))
        #expect(try await recorder.terminate().ending == .exit(0))
        #expect(try await publisher.terminate().ending == .exit(0))
        for bot in [publisher, recorder] {
          #expect(bot.output.contains("ICE is restarted"))
          #expect(bot.output.contains("server lost, calls continue") == (traffic == .mediaAndSignalling))
        }
        #expect(janus.output.components(separatedBy: "Restarting ICE").count == 3, "one restart of each connection")
        let times = try #require(folder.userRecordings().first?.webm.video).times
        let longest = zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? .infinity
        await lab.scenario.note(
          String(format: "measured: %@: longest gap %.2f s of %.2f s", traffic.rawValue, longest, times.last ?? 0))
        #expect(folder.files("webm").count == 1, "one file")
        #expect((times.last ?? 0) > 11, "the recording goes on")
        #expect(longest <= 3, .onQuietMachine("media continues in time"))
      }
    }

    @Test(
      "a recording continues in its file after 10 s without any media; after 40 s a connection is made again",
      arguments: Silence.all)
    func silence(_ silence: Silence) async throws {
      try await NetworkLab.run("in a Janus room, \(silence)") { lab in
        let server = try await TURNServer.start(on: lab.internetHost("turn"), of: lab)
        let (address, _) = try await JanusProcess.start(on: lab.internetHost("janus"), of: lab)
        let sender = try await lab.host("sender", behind: .addressRestricted, families: .ipv4)
        let receiver = try await lab.host("receiver", behind: .addressRestricted, families: .ipv4)
        let (publisher, recorder, folder) = try await bots(on: sender, receiver, at: address, server, in: lab)
        try await sleepOnEventLoop(for: .seconds(3))
        let (host, bot) = silence.isOfRecorder ? (receiver, recorder) : (sender, publisher)
        let protocols = silence.includesSignalling ? "'{ udp, tcp }'" : "udp"
        try await host.namespace.run(
          """
          nft add table inet media
          nft 'add chain inet media sent { type filter hook output priority 0; }'
          nft add rule inet media sent meta l4proto \(protocols) drop
          nft 'add chain inet media received { type filter hook input priority 0; }'
          nft add rule inet media received meta l4proto \(protocols) drop
          """)
        try await sleepOnEventLoop(for: .seconds(silence.seconds))
        try await host.namespace.run("nft delete table inet media")
        try await eventually("a connected bot", within: .seconds(20)) {
          let lines = bot.output.split(separator: "\n")
          let connected = lines.lastIndex { $0.contains(" user connected ") } ?? 0
          let ended = lines.lastIndex { $0.contains(" user disconnected ") || $0.contains(" call ended ") } ?? .max
          return connected > ended ? true : nil
        }
        try await sleepOnEventLoop(for: .seconds(4))
        #expect(try await recorder.terminate().ending == .exit(0))
        #expect(try await publisher.terminate().ending == .exit(0))
        #expect(bot.output.contains("ICE is restarted"))
        let lengths = try folder.userRecordings().map { $0.webm.video?.times.last ?? 0 }
        await lab.scenario.note("measured: \(silence): recordings of \(lengths) s")
        if silence.seconds == 10 {
          #expect(lengths.count == 1 && lengths.allSatisfy { $0 > 14 })
        } else {
          #expect(lengths.count == 2 && lengths.allSatisfy { $0 > 2 })
        }
      }
    }
  }
}
