internal import Glibc

/// Notices that addresses or interfaces of this machine have changed, by messages of the kernel (rtnetlink(7)).
///
/// The messages are not interpreted: after some of them the addresses are read again.
final class AddressMonitor {
  let descriptor: Int32
  private var isClosed = false

  /// `NETLINK_ROUTE`.
  private static let route: Int32 = 0
  /// `RTMGRP_LINK`, `RTMGRP_IPV4_IFADDR` and `RTMGRP_IPV6_IFADDR`, which Swift does not import.
  private static let groups: UInt32 = 0x1 | 0x10 | 0x100

  /// Begins to listen, or returns nil if the kernel does not allow it.
  init?() {
    let descriptor = socket(
      AF_NETLINK, Int32(SOCK_RAW.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), Self.route)
    guard descriptor >= 0 else { return nil }
    self.descriptor = descriptor
    // `sockaddr_nl`: family, padding, process id, groups.
    var address: (UInt16, UInt16, UInt32, UInt32) = (UInt16(AF_NETLINK), 0, 0, Self.groups)
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<(UInt16, UInt16, UInt32, UInt32)>.size))
      }
    }
    guard bound == 0 else {
      Glibc.close(descriptor)
      isClosed = true
      return nil
    }
  }

  deinit { close() }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    Glibc.close(descriptor)
  }

  /// Reads the messages that wait; returns whether there was one.
  func drain() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 8_192)
    var hasRead = false
    for _ in 0..<64 {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      // Too many messages for the buffer also mean a change.
      if count > 0 || count < 0 && errno == ENOBUFS { hasRead = true } else { break }
    }
    return hasRead
  }
}
