import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Calls of two bots behind routers of each kind.
  @Suite("calls through NATs", .enabled(if: Machine.hasNetworkLab)) struct NATCallTests {
    /// A cell of the matrix.
    struct Cell: Sendable {
      let sender: NATCall.Place
      let receiver: NATCall.Place
      let servers: NATCall.Servers

      init(_ sender: NATKind, _ receiver: NATKind, _ servers: NATCall.Servers = .stun, firewall: Firewall = .open) {
        self.init(.init(kind: sender, firewall: firewall), .init(kind: receiver, firewall: firewall), servers)
      }

      init(_ sender: NATCall.Place, _ receiver: NATCall.Place, _ servers: NATCall.Servers) {
        self.sender = sender
        self.receiver = receiver
        self.servers = servers
      }

      init(_ sender: NATCall.Place, _ receiver: NATKind, _ servers: NATCall.Servers = .stun) {
        self.sender = sender
        self.receiver = .init(kind: receiver)
        self.servers = servers
      }

      var name: String { "\(sender) to \(receiver) by \(servers)" }

      var mustConnect: Bool { sender.connects(to: receiver, with: servers) }

      private static let open = NATCall.Place(kind: .none)
      private static let withoutUDP = NATCall.Place(kind: .portRestricted, firewall: .udpBlocked)
      private static let onlyWeb = NATCall.Place(kind: .symmetric, firewall: .onlyTCP443)

      /// Every pair of networks that differ in what TCP can do, and some of them, each with hosts of its own.
      static let overTCP = [open, withoutUDP, onlyWeb].flatMap { sender in
        [open, withoutUDP, onlyWeb].map { Cell(sender, $0, .iceTCP) }
      }
      static let someOverTCP = [
        Cell(onlyWeb, open, .iceTCP), Cell(open, withoutUDP, .iceTCP), Cell(withoutUDP, onlyWeb, .iceTCP),
      ]
    }

    @Test("two bots connect through NATs exactly if these NATs allow it, and every frame is recorded")
    func someCells() async throws {
      try await NetworkLab.run("calls through NATs") { lab in
        try await judge(
          [
            Cell(.portRestricted, .portRestricted), Cell(.symmetric, .addressRestricted), Cell(.none, .symmetric),
            Cell(.symmetric, .portRestricted),
          ], in: lab)
      }
    }

    @Test(
      "two bots behind one router use its hairpinning, or their private addresses where these are allowed",
      .enabled(if: Machine.runsWholeNetworkMatrix))
    func oneRouter() async throws {
      try await NetworkLab.run("calls behind one router") { lab in
        let server = try await TURNServer.start(on: lab.internetHost("turn"), of: lab)
        let rooms = try await LabRooms.start(on: lab.internetHost("rooms"), of: lab)
        struct Case: Sendable {
          let name: String
          let hosts: [LabHost]
          let options: [String]
          let connects: Bool
        }
        var cases: [Case] = []
        for hairpins in [true, false] {
          let router = try await lab.router(.portRestricted, hairpins: hairpins, families: .ipv4)
          let name = hairpins ? "hairpin" : "no-hairpin"
          let hosts = [
            try await lab.host("first-\(name)", behind: router), try await lab.host("second-\(name)", behind: router),
          ]
          cases.append(Case(name: name, hosts: hosts, options: [], connects: hairpins))
          guard !hairpins else { continue }
          cases.append(
            Case(name: "\(name)-local", hosts: hosts, options: ["--allow-local-candidates"], connects: true))
        }
        let outcomes = try await concurrently(cases) { each in
          var call = NATCall(name: each.name, server: server, rooms: rooms, servers: .stun)
          call.options = each.options
          if !each.connects { call.patience = NATCall.watch }
          return try await call.run(from: each.hosts[0], to: each.hosts[1], in: lab)
        }
        for (each, outcome) in zip(cases, outcomes) {
          #expect((outcome.connectedAfter != nil) == each.connects, "\(each.name)")
          #expect((outcome.frames > 0) == each.connects, "\(each.name)")
        }
      }
    }

    @Test(
      "a call survives an uplink that lets nothing pass for 2 s, and one file names the gap",
      .enabled(if: Machine.runsWholeNetworkMatrix))
    func silentUplink() async throws {
      try await NetworkLab.run("calls with a silent uplink") { lab in
        let server = try await TURNServer.start(on: lab.internetHost("turn"), of: lab)
        let rooms = try await LabRooms.start(on: lab.internetHost("rooms"), of: lab)
        let sender = try await lab.host("sender", behind: .symmetric, families: .ipv4)
        let receiver = try await lab.host("receiver", behind: .addressRestricted, families: .ipv4)
        let call = NATCall(name: "silence", server: server, rooms: rooms, servers: .stun)
        let outcome = try await call.run(from: sender, to: receiver, in: lab) {
          try await sleepOnEventLoop(for: .seconds(2))
          try await sender.uplinks[0].setSilent(true)
          try await sleepOnEventLoop(for: .seconds(2))
          try await sender.uplinks[0].setSilent(false)
          try await sleepOnEventLoop(for: .seconds(5))
        }
        let gaps = outcome.video["gaps"].list
        let missing = gaps.reduce(0) { $0 + ($1["frames"].int ?? 0) }
        await lab.scenario.note("\(outcome.frames) frames, gaps \(gaps.compactMap { try? $0.text })")
        #expect(RecordingFolder(url: lab.folder.appendingPathComponent(call.name)).files("webm").count == 1)
        #expect(outcome.gaps > 0, "the silence is a gap")
        #expect(outcome.length > 7, "the recording goes on after it")
        #expect(abs(outcome.frames + missing - outcome.expectedFrames) <= 2, "the gaps name every missing frame")
      }
    }

    @Test(
      "two bots with only IPv6 connect, through firewalls that let in only answers",
      .enabled(if: Machine.runsWholeNetworkMatrix))
    func onlyIPv6() async throws {
      try await NetworkLab.run("calls over IPv6") { lab in
        let server = try await TURNServer.start(on: lab.internetHost("turn", families: .ipv6), of: lab)
        let rooms = try await LabRooms.start(on: lab.internetHost("rooms", families: .ipv6), of: lab)
        let call = NATCall(name: "IPv6", server: server, rooms: rooms, servers: .stun)
        let outcome = try await call.run(
          from: lab.host("sender", behind: .portRestricted, families: .ipv6),
          to: lab.host("receiver", behind: .portRestricted, families: .ipv6), in: lab)
        #expect(outcome.connectedAfter != nil)
        #expect(outcome.frames > 0 && outcome.frames == outcome.expectedFrames, "every frame is recorded")
      }
    }

    @Test(
      "two bots that no direct path connects use a TURN server",
      .enabled(if: Machine.programHasTURN && Machine.runsWholeNetworkMatrix))
    func relayed() async throws {
      try await NetworkLab.run("calls through TURN") { lab in
        try await judge(
          [
            Cell(.symmetric, .symmetric, .relay(.udp)),
            Cell(.portRestricted, .symmetric, .relay(.tcp), firewall: .udpBlocked),
            Cell(.portRestricted, .portRestricted, .relay(.tls), firewall: .onlyTCP443),
            Cell(.portRestricted, .portRestricted, .relay(.tcp), firewall: .onlyTCP443),
          ], in: lab)
      }
    }

    @Test(
      "a bot whose firewall drops UDP connects over TCP to one with a public address, in both directions of the media",
      .enabled(if: Machine.runsWholeNetworkMatrix))
    func overTCP() async throws {
      try await NetworkLab.run("calls over TCP") { lab in
        try await judge(Cell.someOverTCP, in: lab)
      }
    }

    @Test(
      "every pair of firewalls connects over TCP exactly if theory says so",
      .enabled(if: Machine.runsWholeNetworkMatrix))
    func allOverTCP() async throws {
      try await NetworkLab.run("calls over TCP through all firewalls") { lab in
        try await judge(Cell.overTCP, in: lab, isDocumented: true, atATime: 1)
      }
    }

    @Test("every pair of NATs connects exactly if theory says so", .enabled(if: Machine.runsWholeNetworkMatrix))
    func allPairs() async throws {
      try await NetworkLab.run("calls through all NATs", limit: .seconds(300)) { lab in
        try await judge(Self.pairs.map { Cell($0, $1) } + Self.nat64Row(), in: lab, isDocumented: true)
      }
    }

    @Test(
      "every pair of NATs connects through TURN, over each transport that the firewalls let pass",
      .enabled(if: Machine.runsWholeNetworkMatrix && Machine.programHasTURN),
      arguments: TURNServer.Transport.allCases)
    func allRelayed(transport: TURNServer.Transport) async throws {
      try await NetworkLab.run("calls through TURN over \(transport)", limit: .seconds(400)) { lab in
        let behindFirewalls = [Firewall.udpBlocked, .onlyTCP443].map {
          Cell(.symmetric, .portRestricted, .relay(transport), firewall: $0)
        }
        try await judge(
          Self.pairs.map { Cell($0, $1, .relay(transport)) } + Self.nat64Row(.relay(transport)) + behindFirewalls,
          in: lab, isDocumented: true)
      }
    }

    private static let pairs = NATKind.allCases.flatMap { sender in NATKind.allCases.map { (sender, $0) } }

    /// The calls from an IPv6-only network with NAT64 to IPv4 hosts behind each kind.
    private static func nat64Row(_ servers: NATCall.Servers = .stun) -> [Cell] {
      let network = NATCall.Place(kind: .portRestricted, isNAT64: true)
      return Machine.hasNAT64 ? NATKind.allCases.map { Cell(network, $0, servers) } : []
    }

    /// Runs all these calls, some of them at a time, compares each with theory, and writes a table into the folder.
    ///
    /// - Parameters:
    ///   - isDocumented: Whether docs/network.md has this table as well.
    ///   - atATime: How many calls run at once: several on one host cannot use the same port.
    private func judge(
      _ cells: [Cell], in lab: NetworkLab, isDocumented: Bool = false, atATime: Int = 4
    ) async throws {
      let server = try await TURNServer.start(on: lab.internetHost("turn"), of: lab)
      let rooms = try await LabRooms.start(on: lab.internetHost("rooms"), of: lab)
      // With IPv6 they would find each other without a NAT.
      var senders: [NATCall.Place: LabHost] = [:]
      for place in Set(cells.map(\.sender)) {
        guard !place.isNAT64 else {
          senders[place] = try await lab.host(
            "sender \(place)".file, in: lab.nat64Network(names: [rooms.host.name: rooms.host]))
          continue
        }
        senders[place] = try await lab.host(
          "sender \(place)".file, behind: place.kind, firewall: place.firewall, families: .ipv4)
      }
      var receivers: [NATCall.Place: LabHost] = [:]
      for place in Set(cells.map(\.receiver)) {
        receivers[place] = try await lab.host(
          "receiver \(place)".file, behind: place.kind, firewall: place.firewall, families: .ipv4)
      }
      var table = NATTable()
      for start in stride(from: 0, to: cells.count, by: atATime) {
        let part = Array(cells[start..<min(start + atATime, cells.count)])
        let outcomes = try await concurrently(part) { [senders, receivers] cell in
          var call = NATCall(name: cell.name.file, server: server, rooms: rooms, servers: cell.servers)
          if !cell.mustConnect { call.patience = NATCall.watch }
          return try await call.run(
            from: #require(senders[cell.sender]), to: #require(receivers[cell.receiver]), in: lab)
        }
        for (cell, outcome) in zip(part, outcomes) {
          table.add(outcome, from: cell.sender, to: cell.receiver, with: cell.servers)
          await compare(outcome, with: cell, in: lab)
        }
      }
      try table.markdown.write(to: lab.folder.appendingPathComponent("matrix.md"), atomically: true, encoding: .utf8)
      if isDocumented { #expect(try table.differencesFromDocument() == [], "docs/network.md has what was found") }
    }

    /// Compares a call with theory.
    private func compare(_ outcome: NATCall.Outcome, with cell: Cell, in lab: NetworkLab) async {
      let time = outcome.connectedAfter.map { String(format: "%.2f s", $0) } ?? "never"
      let frames = "\(outcome.frames) of \(outcome.expectedFrames)"
      await lab.scenario.note("\(cell.name): connected after \(time), \(frames) frames")
      #expect((outcome.connectedAfter != nil) == cell.mustConnect, "\(cell.name): connected after \(time)")
      if let seconds = outcome.connectedAfter {
        let stall = await lab.scenario.stall / 1000
        let limit = cell.servers.connectionLimit
        #expect(seconds < limit + stall, .onQuietMachine("\(cell.name): connected within \(limit) s"))
        #expect(outcome.frames > 0 && outcome.frames == outcome.expectedFrames, "\(cell.name): every frame is recorded")
        #expect(outcome.lost == 0 && outcome.gaps == 0, "\(cell.name): nothing is lost")
      } else {
        #expect(outcome.frames == 0, "\(cell.name): what is not connected records nothing")
      }
    }
  }
}

extension NATCall.Servers {
  /// The seconds within which a call must be connected.
  fileprivate var connectionLimit: Double {
    switch self {
    case .stun: 2
    case .relay(.udp), .relay(.tcp), .named: 3
    case .relay(.tls): 5
    case .iceTCP: 3
    }
  }
}
