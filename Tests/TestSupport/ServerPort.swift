import Glibc

/// Ports for servers that are given a port, and that may be ended and started again.
public enum ServerPort {
  public struct NoPort: Error {}

  /// Below the ports that Linux assigns, 32768 to 60999 by default, so that no program that leaves the choice to the
  /// system gets the port while the server is not running.
  private static let range = 10_000..<32_000

  /// Returns a TCP port of 127.0.0.1 that is not in use, in the network namespace of the current thread.
  public static func unused() throws -> Int {
    for _ in 0..<100 {
      let port = Int.random(in: range)
      if canBind(port) { return port }
    }
    throw NoPort()
  }

  private static func canBind(_ port: Int) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = UInt16(port).bigEndian
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}
