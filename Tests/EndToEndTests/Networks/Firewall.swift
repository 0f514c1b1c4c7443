/// What a router lets its hosts send.
enum Firewall: String, CaseIterable, Sendable {
  case open
  /// No UDP; all other protocols.
  case udpBlocked
  /// Only TCP to port 443.
  case onlyTCP443

  /// Whether a host may send to a port.
  func passes(_ transport: TURNServer.Transport, port: Int) -> Bool {
    switch self {
    case .open: true
    case .udpBlocked: transport != .udp
    case .onlyTCP443: transport != .udp && port == 443
    }
  }

  /// The nftables rules of a router with the interfaces `wan` and `lan`, for IPv4 and IPv6.
  ///
  /// A datagram from outside to the router itself is dropped without a trace. If the router refused it, or let it in, it
  /// would get an entry in the connection table; a later datagram of a host to the same peer would then be mapped to
  /// another port, and no hole could be punched.
  ///
  /// What is not allowed is dropped, not refused: a program learns it only by waiting.
  var rules: String {
    let forbidden =
      switch self {
      case .open: ""
      case .udpBlocked: "iifname lan meta l4proto udp drop"
      case .onlyTCP443: "iifname lan tcp dport != 443 drop\n    iifname lan meta l4proto != tcp drop"
      }
    return """
      table inet firewall {
        chain to_router {
          type filter hook input priority filter; policy drop;
          iifname { lo, lan } accept
          meta l4proto { icmp, ipv6-icmp } accept
          ct state established, related accept
        }
        chain through_router {
          type filter hook forward priority filter; policy drop;
          \(forbidden)
          iifname lan accept
          ct state established, related accept
          ct status dnat accept
        }
      }
      """
  }
}
