import Foundation

/// Hosts, routers and an internet, as network namespaces of this machine.
///
/// The internet is one segment: a bridge in a namespace of its own, with public hosts (203.0.113.10 and up) and the
/// outer sides of the routers (203.0.113.100 and up). The local network of router N is 10.N.0.0/24. Each has an IPv6
/// prefix as well. Nothing is connected with the machine's own network.
///
/// See docs/network-lab.md.
actor NetworkLab {
  enum Failure: Error, CustomStringConvertible {
    case noRouterNeeded

    var description: String {
      switch self {
      case .noRouterNeeded: "A host with a public address has no router, so that it has no firewall either."
      }
    }
  }

  let scenario: Scenario
  /// The folder with the output of all programs.
  let folder: URL
  /// The certificate that programs must trust to use the servers of the laboratory.
  let authority: LabCertificate
  private let internet: LabNamespace
  private var namespaces: [LabNamespace]
  /// The browsers that end with the laboratory.
  var browsers: [any Browser] = []
  private var usedPorts = 0
  private var internetHosts = 0
  private var routers = 0
  private var hostsOfRouter: [Int: Int] = [:]

  private static let publicIPv4 = "203.0.113."
  private static let publicIPv6 = "2001:db8:0:203::"

  /// Runs a scenario with a laboratory, and removes the laboratory at its end.
  static func run(
    _ name: String, limit: Duration = .seconds(90),
    _ body: @escaping @Sendable (NetworkLab) async throws -> Void
  ) async throws {
    try await Scenario.run(name, limit: limit) { scenario in
      let lab = try await NetworkLab(scenario: scenario)
      do {
        try await body(lab)
      } catch {
        await lab.close()
        throw error
      }
      await lab.close()
    }
  }

  // A bridge has the lowest hardware address of its ports unless it has one of its own. It would change with the ports, and
  // the hosts would go on sending to the old one.

  private init(scenario: Scenario) async throws {
    self.scenario = scenario
    folder = scenario.folder
    authority = try LabCertificate.authority(in: folder)
    internet = try await LabNamespace("internet", folder: folder)
    namespaces = [internet]
    try await internet.run(
      """
      ip link add segment address 02:00:00:00:00:01 type bridge
      ip address add \(Self.publicIPv4)1/24 dev segment
      ip address add \(Self.publicIPv6)1/64 dev segment nodad
      ip link set segment up
      echo 1 >/proc/sys/net/ipv4/ip_forward
      echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
      """)
  }

  // MARK: Hosts and routers

  /// Adds a host with public addresses.
  ///
  /// - Parameter secondAddress: Whether it has a second IPv4 address, as a STUN server needs for RFC 5780.
  func internetHost(
    _ name: String, families: LabHost.Families = .both, secondAddress: Bool = false
  ) async throws -> LabHost {
    let namespace = try await add(name)
    internetHosts += 1
    let number = 8 + 2 * internetHosts
    let uplink = try await connectToInternet(namespace, device: "eth0", number: number, families: families)
    if secondAddress {
      try await namespace.run("ip address add \(Self.publicIPv4)\(number + 1)/24 dev eth0")
    }
    return LabHost(namespace: namespace, uplinks: [uplink])
  }

  /// Adds a router with an empty local network.
  func router(
    _ kind: NATKind, firewall: Firewall = .open, hairpins: Bool = false, families: LabHost.Families = .both
  ) async throws -> LabRouter {
    guard kind != .none else { throw Failure.noRouterNeeded }
    routers += 1
    let number = routers
    let namespace = try await add("router-\(number)")
    let wan = try await connectToInternet(namespace, device: "wan", number: 99 + number, families: families)
    let address = wan.ipv4 ?? ""
    let rules = folder.appendingPathComponent("router-\(number).nft")
    let nat = families.contains(.ipv4) ? kind.rules(hairpins: hairpins, address: address) : ""
    try "\(nat)\n\(firewall.rules)\n".write(to: rules, atomically: true, encoding: .utf8)
    var commands = """
      nft -f '\(rules.path)'
      ip link add lan address 02:00:00:00:00:01 type bridge
      ip link set lan up

      """
    if families.contains(.ipv4) {
      commands += """
        ip address add 10.\(number).0.1/24 dev lan
        echo 1 >/proc/sys/net/ipv4/ip_forward

        """
    }
    if families.contains(.ipv6), let outside = wan.ipv6 {
      commands += """
        ip address add 2001:db8:\(number)::1/64 dev lan nodad
        echo 1 >/proc/sys/net/ipv6/conf/all/forwarding

        """
      try await internet.run("ip route replace 2001:db8:\(number)::/64 via \(outside)")
    }
    try await namespace.run(commands)
    return LabRouter(namespace: namespace, kind: kind, number: number, families: families, publicAddress: address)
  }

  /// Adds a host behind each of these routers, with an uplink to each; the first one is preferred.
  func host(_ name: String, behind routers: LabRouter...) async throws -> LabHost {
    let namespace = try await add(name)
    var uplinks: [LabUplink] = []
    for (index, router) in routers.enumerated() {
      let number = hostsOfRouter[router.number, default: 1] + 1
      hostsOfRouter[router.number] = number
      let end = End(
        namespace: router.namespace, bridge: "lan",
        ipv4: router.families.contains(.ipv4) ? "10.\(router.number).0." : nil,
        ipv6: router.families.contains(.ipv6) ? "2001:db8:\(router.number)::" : nil)
      uplinks.append(
        try await connect(namespace, device: "eth\(index)", number: number, to: end, isOneOfSeveral: routers.count > 1))
    }
    return LabHost(namespace: namespace, uplinks: uplinks)
  }

  /// Adds a host behind a router of its own, or in the internet.
  func host(
    _ name: String, behind kind: NATKind, firewall: Firewall = .open, hairpins: Bool = false,
    families: LabHost.Families = .both
  ) async throws -> LabHost {
    if kind == .none {
      guard firewall == .open else { throw Failure.noRouterNeeded }
      return try await internetHost(name, families: families)
    }
    return try await host(
      name, behind: router(kind, firewall: firewall, hairpins: hairpins, families: families))
  }

  // MARK: Programs

  /// Starts a program on a host. It is ended with the scenario.
  func program(
    _ name: String, on host: LabHost, _ command: [String], environment: [String: String] = [:]
  ) async throws -> ChildProcess {
    try await scenario.program(name, host.prefix + command, environment: environment, folder: folder)
  }

  /// Starts `chatbot` on a host.
  func bot(_ name: String, on host: LabHost, _ arguments: [String]) async throws -> Bot {
    Bot(process: try await program(name, on: host, [try BuiltProgram.path()] + arguments))
  }

  /// Ends the browsers and removes all namespaces; each one vanishes with the last process in it.
  func close() async {
    for browser in browsers { await browser.quit() }
    browsers = []
    let all = namespaces
    namespaces = []
    await withTaskGroup { group in
      for namespace in all { group.addTask { await namespace.close() } }
    }
  }

  // MARK: Links

  /// The side of a link that is not the host's: a bridge, with the prefixes of the addresses in its segment.
  private struct End {
    let namespace: LabNamespace
    let bridge: String
    let ipv4: String?
    let ipv6: String?
  }

  private func add(_ name: String) async throws -> LabNamespace {
    let namespace = try await LabNamespace(name, folder: folder)
    namespaces.append(namespace)
    return namespace
  }

  private func connectToInternet(
    _ namespace: LabNamespace, device: String, number: Int, families: LabHost.Families
  ) async throws -> LabUplink {
    let end = End(
      namespace: internet, bridge: "segment", ipv4: families.contains(.ipv4) ? Self.publicIPv4 : nil,
      ipv6: families.contains(.ipv6) ? Self.publicIPv6 : nil)
    return try await connect(namespace, device: device, number: number, to: end, isOneOfSeveral: false)
  }

  /// Adds an interface, connects it to a bridge, and sets addresses and routes. The bridge has the number 1.
  ///
  /// - Parameter isOneOfSeveral: Whether a datagram must take this link if it has one of its addresses.
  private func connect(
    _ namespace: LabNamespace, device: String, number: Int, to end: End, isOneOfSeveral: Bool
  ) async throws -> LabUplink {
    usedPorts += 1
    let port = "port\(usedPorts)"
    let table = 100 + usedPorts
    var routes = ""
    var rules = ""
    for (version, prefix, length) in [("-4", end.ipv4, 24), ("-6", end.ipv6, 64)] {
      guard let prefix else { continue }
      routes += "ip \(version) route replace default via \(prefix)1 dev \(device) metric \(table)\n"
      guard isOneOfSeveral else { continue }
      let network = version == "-4" ? "\(prefix)0" : prefix
      routes += "ip \(version) route replace \(network)/\(length) dev \(device) table \(table)\n"
      routes += "ip \(version) route replace default via \(prefix)1 dev \(device) table \(table)\n"
      rules += "ip \(version) rule add from \(prefix)\(number) table \(table)\n"
    }
    let uplink = LabUplink(
      device: device, ipv4: end.ipv4.map { "\($0)\(number)" }, ipv6: end.ipv6.map { "\($0)\(number)" },
      host: namespace, other: end.namespace, otherDevice: port, otherBridge: end.bridge, routes: routes)
    try await namespace.run("ip link add \(device) type veth peer name \(port) netns \(end.namespace.processID)")
    try await end.namespace.run("ip link set \(port) master \(end.bridge) up")
    try await namespace.run("\(rules)ip link set \(device) up\n\(uplink.addresses)\(routes)")
    return uplink
  }
}
