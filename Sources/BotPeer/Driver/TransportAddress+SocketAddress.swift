internal import ICE
internal import NIOCore

extension TransportAddress {
  /// The same address in ICE's words; nil for a Unix domain socket.
  init?(_ address: SocketAddress) {
    switch address {
    case .v4(let v4):
      // `sockaddr_in`: family, port, four bytes of address, in network order.
      self = withUnsafeBytes(of: v4.address) { bytes in
        TransportAddress(
          ip: .v4(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))),
          port: UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
      }
    case .v6(let v6):
      // `sockaddr_in6`: family, port, flow information, sixteen bytes of address.
      self = withUnsafeBytes(of: v6.address) { bytes in
        TransportAddress(
          ip: .v6(
            high: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self))),
          port: UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
      }
    case .unixDomainSocket:
      return nil
    }
  }
}
