package import NIOCore

/// An IPv4 or IPv6 address without port and scope.
package enum IPAddress: Sendable, Hashable {
  /// Four bytes in network order: `10.0.0.1` is `0x0A000001`.
  case v4(UInt32)
  /// Sixteen bytes in network order, as two halves.
  case v6(high: UInt64, low: UInt64)

  /// The address family.
  package enum Family: UInt8, Sendable, Hashable {
    /// The raw values are those of the family in a STUN address attribute (RFC 8489, 14.1).
    case v4 = 1
    case v6 = 2
  }

  /// Creates an address from its bytes in network order; nil unless there are 4 or 16.
  package init?(bytes: some Collection<UInt8>) {
    switch bytes.count {
    case 4:
      self = .v4(bytes.reduce(0) { $0 << 8 | UInt32($1) })
    case 16:
      let high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
      let low = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
      self = .v6(high: high, low: low)
    default:
      return nil
    }
  }

  /// The address in network order: 4 or 16 bytes.
  package var bytes: [UInt8] {
    switch self {
    case .v4(let value): Self.bigEndianBytes(of: value)
    case .v6(let high, let low): Self.bigEndianBytes(of: high) + Self.bigEndianBytes(of: low)
    }
  }

  package var family: Family {
    switch self {
    case .v4: .v4
    case .v6: .v6
    }
  }

  /// Whether this is a loopback address: `127.0.0.0/8` or `::1`.
  package var isLoopback: Bool {
    switch self {
    case .v4(let value): value >> 24 == 127
    case .v6(let high, let low): high == 0 && low == 1
    }
  }

  /// Whether this is the unspecified address: `0.0.0.0` or `::`.
  package var isUnspecified: Bool {
    switch self {
    case .v4(let value): value == 0
    case .v6(let high, let low): high == 0 && low == 0
    }
  }

  /// Whether this is a multicast address or the IPv4 broadcast address: `224.0.0.0/4`, `255.255.255.255`, `ff00::/8`.
  package var isMulticast: Bool {
    switch self {
    case .v4(let value): value >> 28 == 0xE || value == .max
    case .v6(let high, _): high >> 56 == 0xFF
    }
  }

  /// Whether this is a link-local address: `169.254.0.0/16` or `fe80::/10`.
  package var isLinkLocal: Bool {
    switch self {
    case .v4(let value): value >> 16 == 0xA9FE
    case .v6(let high, _): high >> 54 == 0xFE80 >> 6
    }
  }

  /// Whether this address belongs to one machine or to a network without public addresses: loopback, link-local,
  /// `10.0.0.0/8`, `172.16.0.0/12`, `192.168.0.0/16`, `100.64.0.0/10`, `fc00::/7` (RFC 1918, RFC 6598, RFC 4193).
  package var isLocal: Bool {
    if isLoopback || isLinkLocal { return true }
    return switch self {
    case .v4(let value):
      value >> 24 == 10 || value >> 20 == 0xAC1 || value >> 16 == 0xC0A8 || value >> 22 == 0x6440 >> 6
    case .v6(let high, _): high >> 57 == 0xFC >> 1
    }
  }

  /// Whether this is an IPv4-mapped IPv6 address, `::ffff:0:0/96`: the sockets do not send to those.
  package var isMappedV4: Bool {
    switch self {
    case .v4: false
    case .v6(let high, let low): high == 0 && low >> 32 == 0xFFFF
    }
  }

  private static func bigEndianBytes(of value: some FixedWidthInteger) -> [UInt8] {
    stride(from: value.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
  }
}

extension IPAddress {
  /// Writes the 4 or 16 bytes in network order.
  package func write(into buffer: inout ByteBuffer) {
    switch self {
    case .v4(let value): buffer.writeInteger(value)
    case .v6(let high, let low): buffer.writeMultipleIntegers(high, low)
    }
  }
}
