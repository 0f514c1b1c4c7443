/// The connection of a host with a router or with the internet: a pair of veth interfaces.
struct LabUplink: Sendable {
  /// The interface's name in the host.
  let device: String
  /// The host's own addresses on it; nil if it has none of that family.
  let ipv4: String?
  let ipv6: String?
  let host: LabNamespace
  let other: LabNamespace
  /// The interface's name on the other side, and the bridge there that it belongs to.
  let otherDevice: String
  let otherBridge: String
  /// The commands in the host that set its routes, which are lost when the interface goes down.
  let routes: String

  /// Sets the interface down: the host is told, and its routes over it vanish. It keeps its addresses.
  func down() async throws {
    try await host.run("ip link set \(device) down")
  }

  /// Removes the addresses and sets the interface down, as a laptop does that leaves its network.
  func leave() async throws {
    try await host.run("ip address flush dev \(device); ip link set \(device) down")
  }

  /// Sets the interface up again, with its addresses and routes.
  func up() async throws {
    try await host.run("ip link set \(device) up\n\(addresses)\(routes)")
  }

  /// Drops everything in both directions and tells nobody, or ends that: a router that hangs, a radio without reception.
  /// A delayed uplink cannot be silenced, because the delaying program reads frames before this rule drops them.
  func setSilent(_ isSilent: Bool) async throws {
    for (namespace, device) in [(host, device), (other, otherDevice)] {
      try await namespace.run(
        isSilent
          ? """
          nft add table netdev silent
          nft 'add chain netdev silent \(device) { type filter hook ingress device "\(device)" priority 0; }'
          nft add rule netdev silent \(device) drop
          """ : "nft flush chain netdev silent \(device); nft delete chain netdev silent \(device)")
    }
  }

  /// The commands that set the addresses.
  var addresses: String {
    (ipv4.map { "ip address replace \($0)/24 dev \(device)\n" } ?? "")
      + (ipv6.map { "ip address replace \($0)/64 dev \(device) nodad\n" } ?? "")
  }
}
