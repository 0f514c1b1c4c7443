import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// A browser that hides its addresses behind names, in the local network of the bot.
  @Suite("calls with a browser that hides its addresses", .enabled(if: Machine.hasNetworkLab))
  struct NameBrowserTests {
    /// Lets nothing into a host but answers, and multicast DNS. A participant gets through only after a datagram to their
    /// address, which they hide behind a name.
    private static let firewall = """
      nft add table inet filter
      nft 'add chain inet filter input { type filter hook input priority 0; }'
      nft add rule inet filter input iif lo accept
      nft add rule inet filter input ct state established,related accept
      nft add rule inet filter input udp dport 5353 accept
      nft add rule inet filter input meta l4proto udp drop
      """

    @Test(
      "a bot behind its host's firewall reaches Chromium by its name, and does not with --no-mdns",
      .enabled(if: Machine.hasChromium))
    func chromium() async throws {
      try await NetworkLab.run("Chromium with hidden addresses") { lab in
        try await isReached(in: lab) { try await lab.chromium(on: $0) }
      }
    }

    /// Firefox answers for its names only after it has the other side's description, and offers its addresses while it has a
    /// camera.
    @Test(
      "a bot behind its host's firewall reaches Firefox by its name, and does not with --no-mdns",
      .enabled(if: Machine.hasFirefox && Machine.runsWholeNetworkMatrix))
    func firefox() async throws {
      try await NetworkLab.run("Firefox with hidden addresses") { lab in
        try await isReached(in: lab) { try await lab.firefox(on: $0, hidesAddresses: true) }
      }
    }

    private func isReached(in lab: NetworkLab, launch: (LabHost) async throws -> any Browser) async throws {
      let rooms = try await LabRooms.start(on: lab.internetHost("rooms"), of: lab)
      let router = try await lab.router(.portRestricted, families: .ipv4)
      let home = try await lab.host("home", behind: router)
      let office = try await lab.host("office", behind: router)
      try await office.namespace.run(Self.firewall)
      let options =
        rooms.options + [
          "--allow-local-candidates", "--log-level", "debug", "--play", BuiltProgram.sample.path,
        ]
      let browser = try await launch(home)
      let bot = try await lab.bot("bot", on: office, options + ["--room", "100"])
      let other = try await lab.bot("bot-without-mdns", on: office, options + ["--room", "200", "--no-mdns"])
      for bot in [bot, other] {
        try await eventually("joined bot", within: .seconds(15)) { bot.output.contains(" joined ") ? true : nil }
      }
      let unreachable = try await lab.call(in: browser, room: "200", rooms: rooms, camera: .refused)
      let call = try await lab.call(in: browser, room: "100", rooms: rooms, camera: .refused)
      try await call.connected()
      #expect(bot.output.contains(" name resolved "))
      #expect(bot.output.contains(home.address))
      // The other call began earlier.
      try await sleepOnEventLoop(for: .seconds(4))
      #expect(!other.output.contains(" user connected "))
      #expect(!other.output.contains(" name "))
      _ = try await call.leave()
      _ = try await unreachable.leave()
      for bot in [bot, other] { #expect(try await bot.terminate().ending == .exit(0)) }
    }

    @Test(
      "Chromium behind its host's firewall reaches a bot by its name, and learns no address of it",
      .enabled(if: Machine.hasChromium))
    func hiddenBot() async throws {
      try await NetworkLab.run("a bot with hidden addresses") { lab in
        try await reaches(in: lab) { try await lab.chromium(on: $0) }
      }
    }

    /// Firefox looks up the names of others only if it may hide its own addresses.
    @Test(
      "Firefox behind its host's firewall reaches a bot by its name, and learns no address of it",
      .enabled(if: Machine.hasFirefox && Machine.runsWholeNetworkMatrix))
    func hiddenFromFirefox() async throws {
      try await NetworkLab.run("a bot that hides its addresses from Firefox") { lab in
        try await reaches(in: lab) { try await lab.firefox(on: $0, hidesAddresses: true) }
      }
    }

    private func reaches(in lab: NetworkLab, launch: (LabHost) async throws -> any Browser) async throws {
      let rooms = try await LabRooms.start(on: lab.internetHost("rooms"), of: lab)
      let router = try await lab.router(.portRestricted, families: .ipv4)
      let home = try await lab.host("home", behind: router)
      let office = try await lab.host("office", behind: router)
      // The browser gets through only after it has sent a check to the bot's address.
      try await home.namespace.run(Self.firewall)
      let bot = try await lab.bot(
        "bot", on: office,
        rooms.options + [
          "--allow-local-candidates", "--hide-addresses", "--play", BuiltProgram.sample.path, "--room", "100",
        ])
      try await eventually("joined bot", within: .seconds(15)) { bot.output.contains(" joined ") ? true : nil }
      let call = try await lab.call(in: launch(home), room: "100", rooms: rooms)
      try await call.connected()
      let descriptions = try await call.page.evaluate("JSON.stringify(observer.descriptions())").string ?? ""
      #expect(descriptions.contains(".local"))
      #expect(!descriptions.contains(office.address))
      _ = try await call.leave()
      #expect(try await bot.terminate().ending == .exit(0))
    }
  }
}
