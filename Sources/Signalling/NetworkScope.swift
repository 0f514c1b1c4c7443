/// How far an IP address reaches, from this machine to everywhere.
///
/// A server that names another address (a redirect, a resource, an ICE server) may name one of its own scope or of a wider
/// one: what a public server says must not lead into a private network or this machine, and what a server in a private
/// network says must not lead into this machine.
package enum NetworkScope: Int, Sendable, Hashable, Comparable, CustomStringConvertible {
  /// This machine: `127.0.0.0/8`, `0.0.0.0/8`, `::1`, `::`.
  case loopback
  /// A network without public addresses, or a link (RFC 1918, RFC 6598, RFC 4193, RFC 3927), and what is no address of
  /// one machine.
  case local
  case everywhere

  /// - Parameter address: the 4 or 16 bytes of the address in network order; of another number, the scope is that of
  ///   this machine.
  package init(address: [UInt8]) {
    switch address.count {
    case 4: self = Self.scope(ofIPv4: address)
    case 16: self = Self.scope(ofIPv6: address)
    default: self = .loopback
    }
  }

  private static func scope(ofIPv4 address: [UInt8]) -> Self {
    switch (address[0], address[1]) {
    case (127, _), (0, _): .loopback
    case (10, _), (172, 16...31), (192, 168), (169, 254), (100, 64...127), (198, 18...19), (224..., _): .local
    case (192, 0): address[2] == 0 ? .local : .everywhere
    default: .everywhere
    }
  }

  private static func scope(ofIPv6 address: [UInt8]) -> Self {
    let isZero = address.prefix(10).allSatisfy { $0 == 0 }
    if isZero, address[10...14].allSatisfy({ $0 == 0 }), address[15] <= 1 { return .loopback }
    // Addresses that carry one of IPv4: mapped and compatible ones, NAT64 (RFC 6052), 6to4 (RFC 3056).
    if isZero, address[10] == address[11], address[10] == 0xFF || address[10] == 0 {
      return scope(ofIPv4: Array(address[12...]))
    }
    if address.starts(with: [0x00, 0x64, 0xFF, 0x9B]), address[4..<12].allSatisfy({ $0 == 0 }) {
      return scope(ofIPv4: Array(address[12...]))
    }
    if address.starts(with: [0x20, 0x02]) { return scope(ofIPv4: Array(address[2..<6])) }
    // Only 2000::/3 is assigned to public networks; 64:ff9b:1::/48 is for local use (RFC 8215).
    return address[0] & 0xE0 == 0x20 ? .everywhere : .local
  }

  package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }

  package var description: String {
    switch self {
    case .loopback: "this machine"
    case .local: "a private network"
    case .everywhere: "the Internet"
    }
  }
}
