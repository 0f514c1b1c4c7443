import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Bots that hide their addresses, in one local network. They find each other only by multicast DNS.
  @Suite("calls of bots that hide their addresses", .enabled(if: Machine.hasNetworkLab)) struct NameTests {
    @Test(
      "two bots in a network without IPv4 find each other by multicast DNS over IPv6",
      .enabled(if: Machine.runsWholeNetworkMatrix))
    func onlyIPv6() async throws {
      try await NetworkLab.run("names over IPv6") { lab in
        let server = try await TURNServer.start(on: lab.internetHost("turn", families: .ipv6), of: lab)
        let rooms = try await LabRooms.start(on: lab.internetHost("rooms", families: .ipv6), of: lab)
        let router = try await lab.router(.portRestricted, families: .ipv6)
        let (alice, bob) = (try await lab.host("alice", behind: router), try await lab.host("bob", behind: router))
        try await judge(
          NATCall(name: "v6", server: server, rooms: rooms, servers: .stun), from: alice, to: bob, in: lab)
      }
    }

    @Test(
      "a bot with both families finds one without IPv4 by multicast DNS, and is found by it",
      .enabled(if: Machine.runsWholeNetworkMatrix))
    func mixed() async throws {
      try await NetworkLab.run("names over both families") { lab in
        let server = try await TURNServer.start(on: lab.internetHost("turn", families: .ipv6), of: lab)
        let rooms = try await LabRooms.start(on: lab.internetHost("rooms", families: .ipv6), of: lab)
        let router = try await lab.router(.portRestricted)
        let half = LabRouter(
          namespace: router.namespace, kind: router.kind, number: router.number, families: .ipv6,
          publicAddress: router.publicAddress)
        let (alice, bob) = (try await lab.host("alice", behind: router), try await lab.host("bob", behind: half))
        try await judge(
          NATCall(name: "both", server: server, rooms: rooms, servers: .stun), from: alice, to: bob, in: lab)
      }
    }

    private func judge(_ call: NATCall, from alice: LabHost, to bob: LabHost, in lab: NetworkLab) async throws {
      var call = call
      call.options = ["--hide-addresses", "--allow-local-candidates"]
      call.senderOptions = ["--log-level", "debug"]
      let outcome = try await call.run(from: alice, to: bob, in: lab)
      let time = outcome.connectedAfter.map { String(format: "%.2f s", $0) } ?? "never"
      await lab.scenario.note("\(call.name): after \(time), \(outcome.frames) of \(outcome.expectedFrames) frames")
      #expect(outcome.frames > 0 && outcome.frames == outcome.expectedFrames, "every frame is recorded")
      for (bot, other) in [(outcome.player, bob), (outcome.recorder, alice)] {
        let answers = bot.output.split(separator: "\n").filter { $0.contains(" name resolved ") }
        let address = try #require(other.uplinks.first?.ipv6)
        #expect(answers.contains { $0.contains(address) }, "\(bot.output)")
      }
    }
  }
}
