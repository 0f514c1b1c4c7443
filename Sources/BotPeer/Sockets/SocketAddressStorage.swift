internal import Glibc
internal import ICE
internal import NIOCore

/// A transport address in the form of the system calls: a `sockaddr_in` or `sockaddr_in6`.
struct SocketAddressStorage {
  private var storage = sockaddr_storage()

  /// Creates storage for any address.
  init() {}

  init(_ address: TransportAddress) {
    withUnsafeMutableBytes(of: &storage) { bytes in
      // Both start with the family and the port, in network order.
      let family = sa_family_t(address.family == .v4 ? AF_INET : AF_INET6)
      bytes.storeBytes(of: family, toByteOffset: 0, as: sa_family_t.self)
      bytes.storeBytes(of: address.port.bigEndian, toByteOffset: 2, as: UInt16.self)
      switch address.ip {
      case .v4(let value):
        bytes.storeBytes(of: value.bigEndian, toByteOffset: 4, as: UInt32.self)
      case .v6(let high, let low):
        // After four bytes of flow information.
        bytes.storeBytes(of: high.bigEndian, toByteOffset: 8, as: UInt64.self)
        bytes.storeBytes(of: low.bigEndian, toByteOffset: 16, as: UInt64.self)
      }
    }
  }

  /// Returns the address that a socket is bound to.
  static func local(of descriptor: Int32) -> TransportAddress? {
    var name = SocketAddressStorage()
    let status = name.withStorage { storage, capacity in
      var length = capacity
      return getsockname(descriptor, storage.assumingMemoryBound(to: sockaddr.self), &length)
    }
    return status == 0 ? name.address : nil
  }

  /// The address as ICE uses it; nil for anything but IPv4 and IPv6.
  var address: TransportAddress? {
    withUnsafeBytes(of: storage) { bytes in
      let port = UInt16(bigEndian: bytes.load(fromByteOffset: 2, as: UInt16.self))
      switch Int32(bytes.load(as: sa_family_t.self)) {
      case AF_INET:
        return TransportAddress(
          ip: .v4(UInt32(bigEndian: bytes.load(fromByteOffset: 4, as: UInt32.self))), port: port)
      case AF_INET6:
        return TransportAddress(
          ip: .v6(
            high: UInt64(bigEndian: bytes.load(fromByteOffset: 8, as: UInt64.self)),
            low: UInt64(bigEndian: bytes.load(fromByteOffset: 16, as: UInt64.self))), port: port)
      default:
        return nil
      }
    }
  }

  mutating func withStorage<Result>(_ body: (UnsafeMutableRawPointer, socklen_t) -> Result) -> Result {
    withUnsafeMutablePointer(to: &storage) {
      body(UnsafeMutableRawPointer($0), socklen_t(MemoryLayout<sockaddr_storage>.size))
    }
  }

  /// The number of bytes that the kernel reads.
  var length: socklen_t {
    let isV6 = storage.ss_family == sa_family_t(AF_INET6)
    return socklen_t(isV6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size)
  }

  /// Calls `body` with the address and its length.
  mutating func withSockAddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    let length = length
    return withUnsafePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
    }
  }
}

extension TransportAddress {
  /// Creates the address from one of SwiftNIO; nil for a Unix domain socket.
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
