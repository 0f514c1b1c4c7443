internal import Glibc

/// An address of IPv4 or IPv6.
package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
  /// 4 or 16 bytes in network order.
  package let bytes: [UInt8]

  /// - Parameter bytes: nil for another number than 4 or 16.
  package init?(bytes: some Sequence<UInt8>) {
    self.bytes = Array(bytes)
    guard self.bytes.count == 4 || self.bytes.count == 16 else { return nil }
  }

  /// - Parameter text: as inet_pton(3) reads it, without brackets and without a zone; nil for another text.
  package init?(_ text: String) {
    guard text.utf8.count <= 45, !text.utf8.contains(0) else { return nil }
    var bytes = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &bytes) == 1 {
      self.init(bytes: bytes.prefix(4))
    } else if inet_pton(AF_INET6, text, &bytes) == 1 {
      self.init(bytes: bytes)
    } else {
      return nil
    }
  }

  package var description: String {
    var text = [CChar](repeating: 0, count: 64)
    let family = bytes.count == 4 ? AF_INET : AF_INET6
    guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

extension IPAddress {
  /// Whether the address is of a public network: in none of the blocks of special use that IANA lists (RFC 6890 and its successors),
  /// and, where it stands for an address of IPv4, whether that one is.
  package var isPublic: Bool {
    bytes.count == 4 ? Self.isPublic(ipv4: bytes) : Self.isPublic(ipv6: bytes)
  }

  /// https://www.iana.org/assignments/iana-ipv4-special-registry
  private static func isPublic(ipv4 address: [UInt8]) -> Bool {
    switch (address[0], address[1], address[2]) {
    // This network, private networks (RFC 1918), loopback, and multicast and above.
    case (0, _, _), (10, _, _), (172, 16...31, _), (192, 168, _), (127, _, _), (224..., _, _): false
    // Shared by the customers of a provider (RFC 6598), link-local, benchmarks (RFC 2544).
    case (100, 64...127, _), (169, 254, _), (198, 18...19, _): false
    // Assignments of protocols, documentation (RFC 5737), and 6to4 relays, which are gone (RFC 7526).
    case (192, 0, 0), (192, 0, 2), (198, 51, 100), (203, 0, 113), (192, 88, 99): false
    default: true
    }
  }

  /// https://www.iana.org/assignments/iana-ipv6-special-registry
  private static func isPublic(ipv6 address: [UInt8]) -> Bool {
    // An address of IPv4 that is mapped (RFC 4291, 2.5.5.2), or that a NAT64 translates (RFC 6052, 2.1).
    if address.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF])
      || address.starts(with: [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0])
    {
      return isPublic(ipv4: Array(address[12...]))
    }
    // All others are in 2000::/3: loopback, unique local (fc00::/7), link-local, multicast and local NAT64 (64:ff9b:1::/48) are not.
    guard address[0] & 0xE0 == 0x20 else { return false }
    switch (address[0], address[1], address[2], address[3]) {
    // Assignments of protocols (2001::/23), of which Teredo carries addresses of IPv4; documentation (2001:db8::/32, 3fff::/20).
    case (0x20, 0x01, 0...1, _), (0x20, 0x01, 0x0D, 0xB8), (0x3F, 0xFF, 0...0x0F, _): return false
    // 6to4 (RFC 3056).
    case (0x20, 0x02, _, _): return isPublic(ipv4: Array(address[2..<6]))
    default: break
    }
    // ISATAP (RFC 5214, 6.1).
    if address[8] & 0xFD == 0, address[9...11].elementsEqual([0, 0x5E, 0xFE]) {
      return isPublic(ipv4: Array(address[12...]))
    }
    return true
  }
}
