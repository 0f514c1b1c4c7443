/// What a router does with the addresses of UDP, in the words of RFC 4787; the names in use are those of RFC 3489.
enum NATKind: String, CaseIterable, Sendable, CustomStringConvertible {
  /// No router: the host has a public address and no firewall.
  case none = "public"
  /// Endpoint-independent mapping and filtering.
  case fullCone = "full cone"
  /// Endpoint-independent mapping, address-dependent filtering.
  case addressRestricted = "address restricted"
  /// Endpoint-independent mapping, address and port-dependent filtering.
  case portRestricted = "port restricted"
  /// Address and port-dependent mapping and filtering, with random ports.
  case symmetric = "symmetric"

  var description: String { rawValue }

  /// Whether two hosts find a direct path by STUN alone.
  ///
  /// A peer of a symmetric NAT learns the port of the mapping towards itself from the first datagram that it receives. A
  /// NAT that filters by ports does not let that datagram in, because nothing was sent to that port.
  func connectsDirectly(to other: NATKind) -> Bool {
    switch (self, other) {
    case (.symmetric, .symmetric), (.symmetric, .portRestricted), (.portRestricted, .symmetric): false
    default: true
    }
  }

  /// How the mapping, or the filtering, depends on the other side, as a measurement names it.
  enum Dependence: String, Sendable {
    case independent = "endpoint-independent"
    case onAddress = "address-dependent"
    case onAddressAndPort = "address-and-port-dependent"
  }

  var mapping: Dependence { self == .symmetric ? .onAddressAndPort : .independent }

  var filtering: Dependence {
    switch self {
    case .none, .fullCone: .independent
    case .addressRestricted: .onAddress
    case .portRestricted, .symmetric: .onAddressAndPort
    }
  }
}

extension NATKind {
  /// The nftables rules of this kind, for a router with the interfaces `wan` and `lan`.
  ///
  /// Linux' own NAT (`masquerade`) keeps the port of a host where it is free at the router, so that the mapping is the
  /// same for every destination. It lets in only what answers: each entry of the connection table names the address and
  /// the port of the other side. That is the port restricted kind. The other kinds differ from it in one place:
  ///
  /// - symmetric: `fully-random` chooses another port for each entry, which means for each destination;
  /// - full cone: a datagram from anyone to a port in the map `mapping` goes to the host that has sent from that port;
  /// - address restricted: the same, but only from an address to which that port has sent, in the set `permitted`.
  ///
  /// The map and the set are filled by the chain `remember`, which sees every outgoing datagram before its address is
  /// changed; a rule of a `nat` chain sees only the first one of a connection. Entries expire after 5 minutes without
  /// a datagram.
  ///
  /// With hairpinning, a datagram from the inside to the router's public address goes to the host of that mapping, and
  /// comes from the sender's public address (RFC 4787, REQ-9). The filter does not apply to it.
  ///
  /// Limits: two hosts behind one router that send from the same port get different public ports from Linux, which the
  /// map does not know. Programs that bind to free ports do not meet this. `symmetric` has no hairpinning.
  ///
  /// - Parameter address: The public address of the router.
  func rules(hairpins: Bool, address: String) -> String {
    guard self != .none else { return "" }
    let incoming =
      switch self {
      case .fullCone: "iifname wan dnat to udp dport map @mapping"
      case .addressRestricted: "iifname wan udp dport . ip saddr @permitted dnat to udp dport map @mapping"
      case .none, .portRestricted, .symmetric: ""
      }
    let returned =
      hairpins && self != .symmetric
      ? "iifname lan ip daddr \(address) meta l4proto udp meta mark set 1 dnat to udp dport map @mapping" : ""
    return """
      table ip nat {
        map mapping { type inet_service : ipv4_addr; flags dynamic, timeout; timeout 5m; size 65535; }
        set permitted { type inet_service . ipv4_addr; flags dynamic, timeout; timeout 5m; size 65535; }
        chain remember {
          type filter hook postrouting priority srcnat - 1;
          oifname wan meta l4proto udp update @mapping { udp sport : ip saddr } update @permitted { udp sport . ip daddr }
          meta mark 1 update @mapping { udp sport : ip saddr }
        }
        chain arriving {
          type nat hook prerouting priority dstnat;
          \(incoming)
          \(returned)
        }
        chain leaving {
          type nat hook postrouting priority srcnat;
          meta mark 1 snat to \(address)
          oifname wan masquerade \(self == .symmetric ? "fully-random" : "")
        }
      }
      """
  }
}
