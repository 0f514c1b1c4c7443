/// An IP address and a port of a transport protocol: one end of a network path (RFC 8445, 4).
package struct TransportAddress: Sendable, Hashable, CustomStringConvertible {
  package var ip: IPAddress
  package var port: UInt16
  package var transport: TransportProtocol

  package init(ip: IPAddress, port: UInt16, transport: TransportProtocol = .udp) {
    self.ip = ip
    self.port = port
    self.transport = transport
  }

  /// Parses the address from text without brackets; nil when it is not an IPv4 or IPv6 address.
  package init?(_ ip: some StringProtocol, port: UInt16) {
    guard let ip = IPAddress(ip) else { return nil }
    self.init(ip: ip, port: port)
  }

  package var family: IPAddress.Family { ip.family }

  /// Hashes no transport protocol: few addresses differ in nothing else.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(ip)
    hasher.combine(port)
  }

  /// Whether a datagram can be sent to this address: the port is above 0, and the address is that of one machine.
  ///
  /// IPv6 link-local addresses need a scope that a candidate cannot carry, so they are not reachable.
  package var isReachable: Bool {
    guard port > 0, !ip.isUnspecified, !ip.isMulticast else { return false }
    return ip.family == .v4 || !(ip.isLinkLocal || ip.isMappedV4)
  }

  /// Whether a NAT may map that address to this one: both have one family, or a NAT64 makes IPv4 of IPv6 (RFC 6146).
  package func isMapping(of base: TransportAddress) -> Bool { family == base.family || family == .v4 }

  /// For example `10.0.0.1:5000`, `[2001:db8::1]:5000` or `10.0.0.1:5000/tcp`.
  package var description: String {
    let host = ip.family == .v4 ? "\(ip)" : "[\(ip)]"
    return "\(host):\(port)" + (transport == .tcp ? "/tcp" : "")
  }
}

/// A transport protocol below ICE; the raw value is its name in candidates.
package enum TransportProtocol: String, Sendable, Hashable {
  case udp
  /// RFC 6544.
  case tcp
}
