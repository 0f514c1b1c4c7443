/// An IP address and a UDP port: one end of a network path.
package struct TransportAddress: Sendable, Hashable, CustomStringConvertible {
  package var ip: IPAddress
  package var port: UInt16

  package init(ip: IPAddress, port: UInt16) {
    self.ip = ip
    self.port = port
  }

  /// Parses the address from text without brackets; nil when it is not an IPv4 or IPv6 address.
  package init?(_ ip: some StringProtocol, port: UInt16) {
    guard let ip = IPAddress(ip) else { return nil }
    self.init(ip: ip, port: port)
  }

  package var family: IPAddress.Family { ip.family }

  /// Whether a datagram can be sent to this address: the port is above 0, and the address is that of one machine.
  ///
  /// IPv6 link-local addresses need a scope that a candidate cannot carry, so they are not reachable.
  package var isReachable: Bool {
    guard port > 0, !ip.isUnspecified, !ip.isMulticast else { return false }
    return ip.family == .v4 || !(ip.isLinkLocal || ip.isMappedV4)
  }

  /// For example `10.0.0.1:5000` or `[2001:db8::1]:5000`.
  package var description: String {
    switch ip.family {
    case .v4: "\(ip):\(port)"
    case .v6: "[\(ip)]:\(port)"
    }
  }
}
