import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// The laboratory on its own: if these fail, the calls in it prove nothing about the program.
  @Suite("the network laboratory", .enabled(if: Machine.hasNetworkLab)) struct NetworkLabTests {
    @Test("each kind of NAT maps and filters as its name says", .enabled(if: Machine.runsWholeNetworkMatrix))
    func kinds() async throws {
      try await NetworkLab.run("lab NAT kinds") { lab in
        let server = try await TURNServer.start(
          on: lab.internetHost("stun", secondAddress: true), of: lab)
        var measured: [(kind: NATKind, hairpins: Bool, host: LabHost)] = []
        for kind in NATKind.allCases {
          measured.append((kind, false, try await lab.host("behind \(kind)".file, behind: kind)))
        }
        for kind in NATKind.allCases where kind != .none && kind != .symmetric {
          let host = try await lab.host("behind \(kind) hairpin".file, behind: kind, hairpins: true)
          measured.append((kind, true, host))
        }
        let results = try await concurrently(measured.map(\.host)) { try await lab.behaviour(of: $0, by: server) }
        for ((kind, hairpins, host), result) in zip(measured, results) {
          let name = Comment(rawValue: "\(kind)\(hairpins ? ", hairpin" : ""): \((try? result.text) ?? "")")
          await lab.scenario.note(name.rawValue)
          #expect(result["mapping"].string == kind.mapping.rawValue, name)
          #expect(result["filtering"].string == kind.filtering.rawValue, name)
          #expect(result["hairpin"].bool == (hairpins || kind == .none), name)
          #expect((result["mapped"].string == host.address) == (kind == .none), name)
        }
      }
    }

    @Test(
      "a firewall lets only its transports reach the TURN server, at only its ports",
      .enabled(if: Machine.runsWholeNetworkMatrix))
    func firewalls() async throws {
      try await NetworkLab.run("lab firewalls") { lab in
        let server = try await TURNServer.start(on: lab.internetHost("turn"), of: lab)
        struct Way: Sendable {
          let firewall: Firewall
          let host: LabHost
          let transport: TURNServer.Transport
          let port: Int
        }
        var ways: [Way] = []
        for firewall in Firewall.allCases {
          let host = try await lab.host("\(firewall)", behind: .portRestricted, firewall: firewall)
          for (transport, port) in [(TURNServer.Transport.udp, 3478), (.tcp, 3478), (.tls, 5349), (.tls, 443)] {
            ways.append(Way(firewall: firewall, host: host, transport: transport, port: port))
          }
        }
        let refusals = try await concurrently(ways) {
          try await lab.refusal(of: server, over: $0.transport, port: $0.port, to: $0.host)
        }
        for (way, refusal) in zip(ways, refusals) {
          let passes = way.firewall.passes(way.transport, port: way.port)
          #expect(
            (refusal == nil) == passes, "\(way.firewall), \(way.transport) to port \(way.port): \(refusal ?? "passes")")
        }
      }
    }

    @Test(
      "a TURN server refuses a wrong password and more than the quota, and forgets all after a restart",
      .enabled(if: Machine.runsWholeNetworkMatrix))
    func turnServer() async throws {
      try await NetworkLab.run("lab TURN server") { lab in
        let host = try await lab.host("client", behind: .symmetric)
        var options = TURNServer.Options()
        options.userQuota = 1
        var server = try await TURNServer.start(on: lab.internetHost("turn"), of: lab, options)
        #expect(try await lab.refusal(of: server, over: .udp, port: 3478, to: host) == nil)
        // The probe does not free its allocation, which lasts for 10 minutes.
        let second = try await lab.refusal(of: server, over: .udp, port: 3478, to: host)
        #expect(second?.contains("486") == true, "\(second ?? "allocated")")
        server = try await server.restarted()
        #expect(try await lab.refusal(of: server, over: .udp, port: 3478, to: host) == nil)
        let wrong = try await lab.probe(
          on: host, ["allocate", "udp", server.host.address, "3478", options.user, "another-password"])
        #expect(wrong["error"].string?.contains("401") == true)
        await server.kill()
        let dead = try await lab.refusal(of: server, over: .udp, port: 3478, to: host)
        #expect(dead != nil)
      }
    }

    @Test(
      "uplinks go down, come back and fall silent, and the other uplink remains",
      .enabled(if: Machine.runsWholeNetworkMatrix))
    func uplinks() async throws {
      try await NetworkLab.run("lab uplinks") { lab in
        let server = try await TURNServer.start(on: lab.internetHost("stun"), of: lab)
        let (first, second) = (try await lab.router(.portRestricted), try await lab.router(.portRestricted))
        let host = try await lab.host("laptop", behind: first, second)
        func mapped() async throws -> String? {
          try await lab.probe(on: host, ["binding", "udp", server.host.address, "3478"])["mapped"].string
        }
        #expect(try await mapped() == first.publicAddress)
        try await host.uplinks[0].down()
        #expect(try await mapped() == second.publicAddress)
        try await host.uplinks[0].up()
        #expect(try await mapped() == first.publicAddress)
        try await host.uplinks[0].setSilent(true)
        #expect(try await mapped() == nil, "nothing passes, and the host is not told")
        try await host.uplinks[0].setSilent(false)
        #expect(try await mapped() == first.publicAddress)
        try await host.uplinks[0].leave()
        #expect(try await mapped() == second.publicAddress)
        try await host.uplinks[1].down()
        #expect(try await mapped() == nil)
        try await host.uplinks[0].up()
        #expect(try await mapped() == first.publicAddress)
      }
    }

    @Test(
      "an uplink delays what passes by the time that was asked for", .enabled(if: Machine.runsWholeNetworkMatrix))
    func delay() async throws {
      try await NetworkLab.run("lab delay") { lab in
        let server = try await TURNServer.start(on: lab.internetHost("stun"), of: lab)
        let host = try await lab.host("far", behind: .portRestricted)
        func trip(_ transport: TURNServer.Transport) async throws -> Double {
          let found = try await lab.probe(on: host, ["binding", transport.rawValue, server.host.address, "3478"])
          return try #require(found["milliseconds"].double, "\((try? found.text) ?? "")")
        }
        let before = try await trip(.udp)
        try await lab.delay(host.uplinks[0], by: .milliseconds(100))
        // The first datagram also waits for the router to ask for the host's hardware address.
        _ = try await trip(.udp)
        let (udp, tcp) = (try await trip(.udp), try await trip(.tcp))
        await lab.scenario.note("round trip \(before) ms, then \(udp) ms by UDP, \(tcp) ms by TCP with its handshake")
        #expect(udp >= 200 && tcp >= 400)
        let stall = await lab.scenario.stall
        #expect(before < 100 + stall && udp < 300 + stall && tcp < 600 + stall, .onQuietMachine("in milliseconds"))
      }
    }

    @Test("a host with only IPv6 reaches the internet, also from behind a router, and has no IPv4")
    func onlyIPv6() async throws {
      try await NetworkLab.run("lab IPv6") { lab in
        let server = try await TURNServer.start(on: lab.internetHost("stun"), of: lab)
        let address = try #require(server.host.uplinks.first?.ipv6)
        let direct = try await lab.internetHost("direct", families: .ipv6)
        let routed = try await lab.host("routed", behind: .portRestricted, families: .ipv6)
        for host in [direct, routed] {
          let found = try await lab.probe(on: host, ["binding", "udp", address, "3478"])
          #expect(found["mapped"].string == host.address, "IPv6 has no NAT")
          let old = try await lab.probe(on: host, ["binding", "udp", server.host.address, "3478"])
          #expect(old["error"].string?.contains("unreachable") == true, "\(old)")
        }
      }
    }
  }
}

extension String {
  /// The text as a part of a file name.
  var file: String { replacing(" ", with: "-") }
}
