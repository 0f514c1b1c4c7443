package import NIOCore

/// The number of open connections, in total and for each address.
///
/// An IPv6 network of 64 bits counts as one address, because one client has all of it (RFC 6177). Loopback addresses are
/// not counted: all clients behind a reverse proxy have one, and a program on this machine can do worse.
package struct ConnectionCount: Sendable {
  package private(set) var total = 0
  private var byNetwork: [[UInt8]: Int] = [:]
  private let maximum: Int
  private let maximumPerAddress: Int

  /// Why a connection is refused.
  package enum Rejection: Sendable, Hashable, CustomStringConvertible {
    /// The total, or the number from the address, that is open.
    case all(Int)
    case address(Int)

    package var description: String {
      switch self {
      case .all(let count): "\(count) are open"
      case .address(let count): "\(count) are open from this address"
      }
    }
  }

  /// - Parameters:
  ///   - maximum: how many connections may be open in total.
  ///   - maximumPerAddress: how many of them may come from one address.
  package init(maximum: Int, maximumPerAddress: Int) {
    self.maximum = maximum
    self.maximumPerAddress = maximumPerAddress
  }

  /// Counts a new connection. Returns nil if it is admitted, or the limit that it exceeds.
  package mutating func open(_ address: SocketAddress?) -> Rejection? {
    guard total < maximum else { return .all(total) }
    if let network = Self.network(of: address) {
      let count = byNetwork[network, default: 0]
      guard count < maximumPerAddress else { return .address(count) }
      byNetwork[network] = count + 1
    }
    total += 1
    return nil
  }

  /// Removes a connection that was admitted and has been closed.
  package mutating func close(_ address: SocketAddress?) {
    total -= 1
    guard let network = Self.network(of: address), let count = byNetwork[network] else { return }
    byNetwork[network] = count > 1 ? count - 1 : nil
  }

  /// Returns a name of the network that an address is counted by; empty if it is not counted.
  package static func networkName(of address: SocketAddress?) -> String {
    network(of: address)?.map { String($0, radix: 16) }.joined(separator: ":") ?? ""
  }

  /// Returns the key that an address is counted by, or nil if the address is not counted.
  private static func network(of address: SocketAddress?) -> [UInt8]? {
    switch address {
    case .v4:
      let bytes = bytes(of: address, at: 4, count: 4)
      return bytes.first == 127 ? nil : bytes
    case .v6:
      let bytes = bytes(of: address, at: 8, count: 16)
      if bytes.dropLast().allSatisfy({ $0 == 0 }) { return nil }
      // ::ffff:192.0.2.1 is an IPv4 address (RFC 4291, 2.5.5.2).
      if bytes.count == 16, bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
        return bytes[12] == 127 ? nil : Array(bytes[12...])
      }
      return Array(bytes.prefix(8))
    case .unixDomainSocket, nil:
      return nil
    }
  }

  /// Returns bytes of the system's structure: `sin_addr` begins at byte 4, `sin6_addr` at byte 8 (ip(7), ipv6(7)).
  private static func bytes(of address: SocketAddress?, at position: Int, count: Int) -> [UInt8] {
    address?.withSockAddr { pointer, size in
      Array(UnsafeRawBufferPointer(start: pointer, count: size).dropFirst(position).prefix(count))
    } ?? []
  }
}
