import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// `chatbot diagnose` behind routers of each kind.
  @Suite("chatbot diagnose in networks", .enabled(if: Machine.hasNetworkLab)) struct DiagnoseTests {
    @Test("each kind of NAT is recognised, and the verdict fits it")
    func kinds() async throws {
      try await NetworkLab.run("diagnose NAT kinds") { lab in
        let server = try await TURNServer.start(on: lab.internetHost("stun", secondAddress: true), of: lab)
        var hosts: [(kind: NATKind, host: LabHost)] = []
        for kind in NATKind.allCases {
          hosts.append((kind, try await lab.host("behind \(kind)".file, behind: kind, families: .ipv4)))
        }
        let results = try await concurrently(hosts.map(\.host)) {
          try await lab.diagnose(on: $0, ["--ice-server", server.stunURL])
        }
        for ((kind, host), (json, status)) in zip(hosts, results) {
          let stun = json["stun"].list.first ?? json
          let name = Comment(rawValue: "\(kind): \((try? stun.text) ?? "")")
          await lab.scenario.note(name.rawValue)
          #expect(stun["mapping"].string == kind.diagnosedMapping, name)
          #expect(stun["filtering"].string == kind.diagnosedFiltering, name)
          #expect((stun["mapped"].string?.hasPrefix("\(host.address):") == true) == (kind == .none), name)
          #expect(json["verdict"]["calls"].string == "direct", name)
          #expect(status == 0, name)
        }
      }
    }

    @Test("a firewall without UDP leaves the relay over TCP or TLS, and the verdict says so")
    func firewalls() async throws {
      try await NetworkLab.run("diagnose firewalls") { lab in
        let server = try await TURNServer.start(on: lab.internetHost("turn"), of: lab)
        let rooms = try await LabRooms.start(on: lab.internetHost("rooms"), of: lab)
        let hosts = [
          try await lab.host("udpBlocked", behind: .portRestricted, firewall: .udpBlocked, families: .ipv4),
          try await lab.host("onlyTCP443", behind: .portRestricted, firewall: .onlyTCP443, families: .ipv4),
          try await lab.host("open", behind: .symmetric, families: .ipv4),
        ]
        let options =
          rooms.options + ["--ice-server", server.stunURL]
          + TURNServer.Transport.allCases.flatMap { ["--ice-server", server.turnURL($0)] }
        let results = try await concurrently(hosts) { try await lab.diagnose(on: $0, options) }
        let expected = [
          ("relayed", [false, true, true]), ("relayed", [false, false, true]), ("direct", [true, true, true]),
        ]
        for (host, ((json, status), (calls, allocated))) in zip(hosts, zip(results, expected)) {
          let name = Comment(rawValue: "\(host.name): \((try? json.text) ?? "")")
          await lab.scenario.note(name.rawValue)
          #expect(json["turn"].list.map { $0["isAllocated"].bool ?? false } == allocated, name)
          for turn in json["turn"].list where turn["isAllocated"].bool == true {
            #expect(turn["returnsData"].bool == true, name)
          }
          #expect(json["turn"].list.last?["certificate"]["isTrusted"].bool == true, name)
          #expect(json["turn"].list.last?["certificate"]["subject"].string == "CN = turn", name)
          #expect(json["server"]["answer"].string == "WebSocket", name)
          #expect(json["server"]["certificate"]["isTrusted"].bool == true, name)
          #expect(abs(json["server"]["clockOffset"]["seconds"].double ?? 99) < 5, name)
          #expect(json["verdict"]["calls"].string == calls, name)
          #expect(status == 0, name)
          #expect((try? json.text)?.contains(server.options.password) == false, "no password is printed")
        }
      }
    }

    @Test(
      "a wrong password, an unknown authority and a dead server are named, and the exit code is 75",
      .enabled(if: Machine.runsWholeNetworkMatrix))
    func failures() async throws {
      try await NetworkLab.run("diagnose failures") { lab in
        let server = try await TURNServer.start(on: lab.internetHost("turn"), of: lab)
        let host = try await lab.host("client", behind: .portRestricted, firewall: .udpBlocked, families: .ipv4)
        let address = server.host.urlHost
        let cases: [(options: [String], sentence: String)] = [
          (["--ice-server", "turn:bot:wrong-password@\(address)?transport=tcp"], "error 401"),
          // The authority of the laboratory is not trusted without --ca-certificate.
          (["--ice-server", server.turnURL(.tls)], "certificate of the TURN server is not trusted"),
          (["--ice-server", server.turnURL(.udp)], "has not answered"),
          (["--ice-server", server.turnURL(.tcp, port: 9)], "does not accept a connection"),
        ]
        let results = try await concurrently(cases.map(\.options)) { try await lab.diagnose(on: host, $0) }
        for ((options, sentence), (json, status)) in zip(cases, results) {
          let name = Comment(rawValue: "\(options): \((try? json.text) ?? "")")
          await lab.scenario.note(name.rawValue)
          #expect(json["turn"].list.first?["failure"].string?.contains(sentence) == true, name)
          #expect(json["verdict"]["calls"].string == "none", name)
          #expect(status == 75, name)
          #expect((try? json.text)?.contains("wrong-password") == false, "no password is printed")
        }
      }
    }

    @Test(
      "every kind of NAT behind every firewall is diagnosed", .enabled(if: Machine.runsWholeNetworkMatrix),
      arguments: [Firewall.open, .udpBlocked, .onlyTCP443])
    func matrix(firewall: Firewall) async throws {
      try await NetworkLab.run("diagnose matrix \(firewall)", limit: .seconds(120)) { lab in
        let server = try await TURNServer.start(on: lab.internetHost("turn", secondAddress: true), of: lab)
        var hosts: [(kind: NATKind, host: LabHost)] = []
        for kind in NATKind.allCases where kind != .none {
          hosts.append(
            (kind, try await lab.host("behind \(kind)".file, behind: kind, firewall: firewall, families: .ipv4)))
        }
        let options =
          ["--ca-certificate", lab.authority.certificate.path, "--ice-server", server.stunURL]
          + TURNServer.Transport.allCases.flatMap { ["--ice-server", server.turnURL($0)] }
        let results = try await concurrently(hosts.map(\.host)) { try await lab.diagnose(on: $0, options) }
        for ((kind, _), (json, status)) in zip(hosts, results) {
          let name = Comment(rawValue: "\(kind), \(firewall): \((try? json.text) ?? "")")
          let isOpen = firewall == .open
          #expect(json["stun"].list.first?["mapping"].string == (isOpen ? kind.diagnosedMapping : nil), name)
          #expect(json["stun"].list.first?["filtering"].string == (isOpen ? kind.diagnosedFiltering : nil), name)
          for (transport, turn) in zip(TURNServer.Transport.allCases, json["turn"].list) {
            let passes = firewall.passes(transport, port: TURNServer.port(of: transport))
            #expect(turn["isAllocated"].bool == passes, name)
          }
          #expect(json["verdict"]["calls"].string == (isOpen ? "direct" : "relayed"), name)
          #expect(status == 0, name)
        }
      }
    }
  }
}

extension NetworkLab {
  /// Runs `chatbot diagnose --json` on a host, and returns the object and the exit code.
  func diagnose(on host: LabHost, _ arguments: [String]) async throws -> (json: JSON, status: Int32) {
    let name = "diagnose-\(host.name)-\(UUID().uuidString.prefix(8))"
    let bot = try await bot(name, on: host, ["diagnose", "--json", "--timeout", "4s"] + arguments)
    let ending = try await bot.ending(within: .seconds(20))
    guard case .exit(let status) = ending, let json = try? JSON(parsing: bot.output) else {
      throw ProbeFailed(output: bot.output)
    }
    return (json, status)
  }
}

extension NATKind {
  /// The words of `chatbot diagnose`.
  fileprivate var diagnosedMapping: String {
    if self == .none { return "no address translation" }
    return mapping.rawValue.replacing("address-and-port", with: "address and port")
  }

  fileprivate var diagnosedFiltering: String {
    filtering.rawValue.replacing("address-and-port", with: "address and port")
  }
}
