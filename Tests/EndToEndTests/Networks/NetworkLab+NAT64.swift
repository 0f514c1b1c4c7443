import Foundation
import TestSupport

/// An IPv6-only network behind a router with NAT64 (RFC 6146) and DNS64 (RFC 6147).
struct NAT64Network: Sendable {
  let router: LabRouter
  /// The `resolv.conf` of its hosts.
  let resolver: URL
  let translator: ChildProcess
  let dns: ChildProcess

  /// The prefix of the network's NAT64. The well-known one does not stand for the addresses of the laboratory, which are
  /// not global.
  static let prefix = "2001:db8:64::/96"
}

extension NetworkLab {
  private static let dns64 = BuiltProgram.repository.appendingPathComponent("Tests/Network/dns64.py").path

  /// Adds a router whose local network has no IPv4. `tayga` translates each IPv6 packet to the prefix into one of IPv4, with
  /// an address of a pool, and Linux' NAT maps the pool to the router's public address, like the port restricted kind.
  ///
  /// - Parameter names: The names that the resolver knows, with IPv4 hosts.
  func nat64Network(names: [String: LabHost] = [:]) async throws -> NAT64Network {
    let outer = try await router(.portRestricted)
    let inner = LabRouter(
      namespace: outer.namespace, kind: outer.kind, number: outer.number, families: .ipv6,
      publicAddress: outer.publicAddress)
    let host = LabHost(namespace: outer.namespace, uplinks: [])
    let settings = folder.appendingPathComponent("router-\(outer.number)-tayga.conf")
    try """
    tun-device nat64
    ipv4-addr 192.168.255.1
    prefix \(NAT64Network.prefix)
    dynamic-pool 192.168.255.0/24
    data-dir \(folder.path)

    """.write(to: settings, atomically: true, encoding: .utf8)
    try await outer.namespace.run(
      """
      tayga --mktun --config '\(settings.path)'
      ip link set nat64 up
      ip route add 192.168.255.0/24 dev nat64
      ip -6 route add \(NAT64Network.prefix) dev nat64
      nft insert rule inet firewall through_router iifname nat64 accept
      """)
    let translator = try await program(
      "nat64-\(outer.number)", on: host, ["/usr/sbin/tayga", "--nodetach", "--config", settings.path])
    let dns = try await program(
      "dns64-\(outer.number)", on: host,
      ["/usr/bin/python3", Self.dns64, "2001:db8:\(outer.number)::1", NAT64Network.prefix]
        + names.map { "\($0.key)=\($0.value.address)" })
    try await eventually("DNS64", within: .seconds(10)) { () -> Bool? in
      guard dns.isRunning else { throw NotStarted(name: "dns64.py", output: dns.output) }
      return dns.output.contains("ready") ? true : nil
    }
    let resolver = folder.appendingPathComponent("router-\(outer.number)-resolv.conf")
    try "nameserver 2001:db8:\(outer.number)::1\n".write(to: resolver, atomically: true, encoding: .utf8)
    return NAT64Network(router: inner, resolver: resolver, translator: translator, dns: dns)
  }

  /// Adds a host whose only network is an IPv6-only one. Its programs use that network's resolver.
  func host(_ name: String, in network: NAT64Network) async throws -> LabHost {
    let host = try await host(name, behind: network.router)
    return LabHost(namespace: host.namespace, uplinks: host.uplinks, resolver: network.resolver)
  }
}

extension Machine {
  /// Whether this machine can make a NAT64: it has `tayga`, and a network namespace may have a TUN device.
  static let hasNAT64: Bool = {
    guard hasNetworkLab else { return false }
    guard FileManager.default.isExecutableFile(atPath: "/usr/sbin/tayga") else {
      print("SKIPPED: no tests with NAT64, which need tayga")
      return isCI
    }
    let probe = try? ExternalTool.run(
      "unshare", ["--net", "sh", "-ec", "PATH=$PATH:/usr/sbin; ip tuntap add dev probe mode tun"])
    if probe?.status != 0 { print("SKIPPED: no tests with NAT64: a network namespace cannot have a TUN device here") }
    return probe?.status == 0
  }()
}
