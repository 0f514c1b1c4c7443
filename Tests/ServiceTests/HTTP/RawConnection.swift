import Foundation
import Glibc

/// A TCP connection to this machine, for requests that no client would send.
final class RawConnection: Sendable {
  private let descriptor: Int32

  init(port: Int) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(port).bigEndian)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw CocoaError(.fileReadUnknown) }
  }

  deinit { close(descriptor) }

  func send(_ text: String) throws {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// Reads the head of an answer and returns its status; 0 if there is none.
  func status() async throws -> Int {
    let descriptor = descriptor
    return await Task.detached {
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4_096)
      while bytes.count < 12 {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return 0 }
        bytes += buffer[..<count]
      }
      return Int(String(decoding: bytes[9..<12], as: UTF8.self)) ?? 0
    }.value
  }

  /// Waits, then reads all that is there; returns whether the other side has closed the connection.
  func isClosedAfterReading(within limit: Duration, readingAfter pause: Duration) async throws -> Bool {
    try await Task.sleep(for: pause)
    let descriptor = descriptor
    var time = timeval(tv_sec: Int(limit.components.seconds), tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    return await Task.detached {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count == 0 || (count < 0 && errno == ECONNRESET) { return true }
        if count < 0 { return false }
      }
    }.value
  }
}
