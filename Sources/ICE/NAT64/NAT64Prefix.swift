/// The IPv6 prefix of a NAT64: an address in it stands for an IPv4 address (RFC 6052).
///
/// ```
///  bits   0        32    40    48    56    64    72    80    88    96   104    128
///  /32    |prefix  |v4(32)                 | u   |suffix                         |
///  /40    |prefix        |v4(24)           | u   |(8)  |suffix                   |
///  /48    |prefix              |v4(16)     | u   |(16)       |suffix             |
///  /56    |prefix                    |(8)  | u   |v4(24)           |suffix       |
///  /64    |prefix                          | u   |v4(32)                 |suffix |
///  /96    |prefix                                            |v4(32)             |
/// ```
package struct NAT64Prefix: Sendable, Hashable, CustomStringConvertible {
  /// The 16 bytes of an address with this prefix and zeros.
  private let bytes: [UInt8]
  /// The number of bits: 32, 40, 48, 56, 64 or 96.
  package let length: Int

  /// The lengths that RFC 6052, 2.2 allows.
  package static let lengths = [32, 40, 48, 56, 64, 96]
  /// `64:ff9b::/96` (RFC 6052, 2.1).
  package static let wellKnown = NAT64Prefix(bytes: [0, 0x64, 0xFF, 0x9B] + Array(repeating: 0, count: 12), length: 96)
  /// The name that a DNS64 answers with synthesised addresses only (RFC 7050, 3).
  package static let discoveryName = "ipv4only.arpa"
  /// The IPv4 addresses of that name, 192.0.0.170 and 192.0.0.171 (RFC 7050, 2.2).
  private static let discoveryAddresses: [UInt32] = [0xC000_00AA, 0xC000_00AB]
  /// More addresses of an answer than this are not read.
  private static let maximumAddresses = 16
  /// Byte 8, which is zero in each address (RFC 6052, 2.2).
  private static let reservedByte = 8

  private init(bytes: [UInt8], length: Int) {
    self.bytes = bytes
    self.length = length
  }

  /// Creates the prefix of an address; nil for an IPv4 address, another length, or an address that cannot have a prefix of
  /// this length, because its bits 64 to 71 are not zero.
  package init?(_ address: IPAddress, length: Int) {
    guard address.family == .v6, Self.lengths.contains(length), address.bytes[Self.reservedByte] == 0 else {
      return nil
    }
    let kept = address.bytes.prefix(length / 8)
    self.init(bytes: kept + Array(repeating: 0, count: 16 - kept.count), length: length)
  }

  /// Finds the prefixes in the addresses of `ipv4only.arpa` (RFC 7050, 3), in their order, each once.
  ///
  /// In an address both IPv4 addresses may stand at several positions. Then the right one is that at which another address of
  /// the answer has the other IPv4 address; without one, the address tells nothing.
  package static func found(in addresses: [IPAddress]) -> [NAT64Prefix] {
    let matches = addresses.prefix(maximumAddresses).map { address in
      lengths.compactMap { length -> (prefix: NAT64Prefix, value: UInt32)? in
        guard let prefix = NAT64Prefix(address, length: length), case .v4(let value)? = prefix.embedded(in: address),
          discoveryAddresses.contains(value)
        else { return nil }
        return (prefix, value)
      }
    }
    var found: [NAT64Prefix] = []
    for ofAddress in matches {
      let sure =
        ofAddress.count == 1
        ? ofAddress
        : ofAddress.filter { one in matches.joined().contains { $0.prefix == one.prefix && $0.value != one.value } }
      if sure.count == 1, !found.contains(sure[0].prefix) { found.append(sure[0].prefix) }
    }
    return found
  }

  // MARK: Addresses

  /// The indices of the bytes of the IPv4 address; byte 8 is left out.
  private var positions: [Int] {
    Array((length / 8..<16).filter { length == 96 || $0 != Self.reservedByte }.prefix(4))
  }

  /// Returns the IPv6 address that stands for an IPv4 address (RFC 6052, 2.2). Nil if there is none: for an IPv6 address, for
  /// one that no router passes on, and with the well-known prefix for one that is not global (RFC 6052, 3.1).
  package func synthesized(from address: IPAddress) -> IPAddress? {
    guard case .v4(let value) = address, Self.isRoutable(address), self != .wellKnown || Self.isGlobal(address) else {
      return nil
    }
    var result = bytes
    for (index, position) in positions.enumerated() {
      result[position] = UInt8(truncatingIfNeeded: value >> (24 - 8 * index))
    }
    return IPAddress(bytes: result)
  }

  package func synthesized(from address: TransportAddress) -> TransportAddress? {
    synthesized(from: address.ip).map {
      TransportAddress(ip: $0, port: address.port, transport: address.transport)
    }
  }

  /// Returns the IPv4 address that an IPv6 address with this prefix stands for; nil for other addresses (RFC 6052, 2.3).
  package func embedded(in address: IPAddress) -> IPAddress? {
    guard address.family == .v6 else { return nil }
    let all = address.bytes
    guard all.prefix(length / 8) == bytes.prefix(length / 8), all[Self.reservedByte] == 0 else { return nil }
    return IPAddress(bytes: positions.map { all[$0] })
  }

  private static func isRoutable(_ address: IPAddress) -> Bool {
    guard case .v4(let value) = address else { return false }
    // "This network", 0.0.0.0/8, and the reserved 240.0.0.0/4 (RFC 6890, 2.2.2).
    return value >> 24 != 0 && value >> 28 != 0xF && !address.isLoopback && !address.isLinkLocal && !address.isMulticast
  }

  /// Whether an address is none of a private network, of documentation, of benchmarks or of a protocol (RFC 6890, 2.2.2).
  private static func isGlobal(_ address: IPAddress) -> Bool {
    guard case .v4(let value) = address else { return false }
    return !address.isLocal && value >> 17 != 0xC612 >> 1
      && ![0xC0_0000, 0xC0_0002, 0xC6_3364, 0xCB_0071].contains(value >> 8)
  }

  /// For example `64:ff9b::/96`.
  package var description: String { "\(IPAddress(bytes: bytes).map(\.description) ?? "")/\(length)" }
}
