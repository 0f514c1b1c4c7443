import Glibc

/// A TCP port of this machine that refuses connections: a socket is bound to it and does not listen, so that no other
/// program gets the port.
public struct RefusingPort: Sendable {
  public let number: Int
  private let descriptor: Int32

  public struct NoPort: Error {}

  public init() throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { [descriptor] pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    number = Int(UInt16(bigEndian: address.sin_port))
    guard isBound else {
      close()
      throw NoPort()
    }
  }

  /// Frees the port.
  public func close() {
    Glibc.close(descriptor)
  }
}
