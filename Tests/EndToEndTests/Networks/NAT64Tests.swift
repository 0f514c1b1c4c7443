import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Calls between an IPv6-only network with NAT64 and participants that have only IPv4.
  @Suite("calls from an IPv6-only network with NAT64", .enabled(if: Machine.hasNAT64)) struct NAT64Tests {
    @Test("a bot with only IPv6 calls and is called by a bot with only IPv4, and uses an IPv4 STUN server")
    func direct() async throws {
      try await NetworkLab.run("calls through NAT64") { lab in
        let server = try await TURNServer.start(on: lab.internetHost("turn", families: .ipv4), of: lab)
        let rooms = try await LabRooms.start(on: lab.internetHost("rooms", families: .ipv4), of: lab)
        let network = try await lab.nat64Network(names: ["rooms": rooms.host])
        let inside = try await lab.host("inside", in: network)
        let outside = try await lab.host("outside", behind: .none, families: .ipv4)
        let behindNAT = try await lab.host("behind-nat", behind: .portRestricted, families: .ipv4)
        let calls = [
          (NATCall(name: "out", server: server, rooms: rooms, servers: .stun), inside, outside, "srflx, prflx"),
          (NATCall(name: "in", server: server, rooms: rooms, servers: .stun), behindNAT, inside, "srflx, srflx"),
        ]
        let outcomes = try await concurrently(calls) { call, sender, receiver, _ in
          try await call.run(from: sender, to: receiver, in: lab)
        }
        for ((call, _, _, types), outcome) in zip(calls, outcomes) {
          try await judge(outcome, types: types, of: call, in: lab)
        }
      }
    }

    @Test(
      "a bot with only IPv6 uses a TURN server with only IPv4",
      .enabled(if: Machine.programHasTURN && Machine.runsWholeNetworkMatrix))
    func relayed() async throws {
      try await NetworkLab.run("calls through NAT64 and TURN") { lab in
        let server = try await TURNServer.start(on: lab.internetHost("turn", families: .ipv4), of: lab)
        let rooms = try await LabRooms.start(on: lab.internetHost("rooms", families: .ipv4), of: lab)
        let network = try await lab.nat64Network(names: ["rooms": rooms.host])
        let inside = try await lab.host("inside", in: network)
        let outside = try await lab.host("outside", behind: .none, families: .ipv4)
        let calls = TURNServer.Transport.allCases.map { transport in
          NATCall(name: "\(transport)", server: server, rooms: rooms, servers: .relay(transport))
        }
        let outcomes = try await concurrently(calls) { try await $0.run(from: inside, to: outside, in: lab) }
        for (call, outcome) in zip(calls, outcomes) {
          try await judge(outcome, types: "relay, relay", of: call, in: lab)
        }
      }
    }

    @Test(
      "diagnose names the prefix, and measures IPv4 servers through it", .enabled(if: Machine.runsWholeNetworkMatrix))
    func diagnosis() async throws {
      try await NetworkLab.run("diagnose NAT64") { lab in
        let server = try await TURNServer.start(
          on: lab.internetHost("turn", families: .ipv4, secondAddress: true), of: lab)
        let network = try await lab.nat64Network()
        let inside = try await lab.host("inside", in: network)
        let servers = [server.stunURL] + TURNServer.Transport.allCases.map { server.turnURL($0) }
        let options =
          ["--ca-certificate", lab.authority.certificate.path] + servers.flatMap { ["--ice-server", $0] }
        let (json, status) = try await lab.diagnose(on: inside, options)
        let text = Comment(rawValue: (try? json.text) ?? "")
        await lab.scenario.note(text.rawValue)
        #expect(status == 0, text)
        #expect(json["ipv6Only"]["nat64Prefix"].string == NAT64Network.prefix, text)
        #expect(json["stun"].list.count == 1 && json["stun"].list[0]["mapping"].string == "endpoint-independent", text)
        #expect(json["stun"].list.first?["filtering"].string == "address and port-dependent", text)
        #expect(
          json["stun"].list.first?["mapped"].string?.hasPrefix("\(network.router.publicAddress):") == true, text)
        #expect(json["turn"].list.map { $0["isAllocated"].bool } == [true, true, true], text)
        #expect(json["verdict"]["calls"].string == "direct", text)
        await network.dns.end()
        let (unknown, _) = try await lab.diagnose(on: inside, ["--ice-server", server.stunURL])
        #expect(unknown["ipv6Only"]["failure"].string?.contains("has not answered") == true)
      }
    }

    private func judge(_ outcome: NATCall.Outcome, types: String, of call: NATCall, in lab: NetworkLab) async throws {
      let time = outcome.connectedAfter.map { String(format: "%.2f s", $0) } ?? "never"
      await lab.scenario.note(
        "\(call.name): connected after \(time), \(outcome.frames) of \(outcome.expectedFrames) frames, "
          + (outcome.candidateTypes ?? "no types"))
      #expect(outcome.connectedAfter != nil, "\(call.name)")
      #expect(outcome.frames > 0 && outcome.frames == outcome.expectedFrames, "\(call.name): every frame is recorded")
      #expect(outcome.candidateTypes == types, "\(call.name)")
    }
  }
}
