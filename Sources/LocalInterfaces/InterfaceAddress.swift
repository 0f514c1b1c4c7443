internal import Glibc

/// An IPv4 or IPv6 address of an interface of this machine.
package struct InterfaceAddress: Sendable, Hashable {
  package let interface: String
  /// The address as text, without a zone.
  package let address: String
  /// Whether the interface is up and connected. One that is down may keep its address, from which nothing can be sent.
  package let isUsable: Bool

  /// - Parameter flags: those of the interface, `IFF_…` (netdevice(7)).
  package init(interface: String, address: String, flags: UInt32) {
    self.interface = interface
    self.address = address
    let needed = UInt32(IFF_UP | IFF_RUNNING)
    isUsable = flags & needed == needed
  }

  /// Why the addresses cannot be read.
  package struct ReadError: Error, CustomStringConvertible {
    package let description: String
  }

  /// Returns the addresses of all interfaces, usable or not (getifaddrs(3)).
  package static func all() throws(ReadError) -> [InterfaceAddress] {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&first) == 0 else {
      throw ReadError(description: "The addresses of this machine cannot be read: \(String(cString: strerror(errno))).")
    }
    defer { freeifaddrs(first) }
    return sequence(first: first, next: { $0?.pointee.ifa_next }).prefix { $0 != nil }.compactMap { entry in
      guard let entry = entry?.pointee, let address = entry.ifa_addr, let text = text(of: address) else { return nil }
      return InterfaceAddress(interface: String(cString: entry.ifa_name), address: text, flags: entry.ifa_flags)
    }
  }

  private static func text(of address: UnsafeMutablePointer<sockaddr>) -> String? {
    let size =
      switch Int32(address.pointee.sa_family) {
      case AF_INET: MemoryLayout<sockaddr_in>.size
      case AF_INET6: MemoryLayout<sockaddr_in6>.size
      default: 0
      }
    var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    guard size > 0,
      getnameinfo(address, socklen_t(size), &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST) == 0
    else { return nil }
    // A link-local address has a zone after a percent sign.
    return String(
      decoding: name.prefix { $0 != 0 && $0 != CChar(UInt8(ascii: "%")) }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

extension Sequence<InterfaceAddress> {
  /// Whether a socket with a local address can send: an interface that is up and connected has it.
  ///
  /// - Parameter address: as text. A socket of both families has the IPv4 address of an interface in the form that RFC 4291,
  ///   2.5.5.2 maps to IPv6.
  package func haveUsable(_ address: String) -> Bool {
    let unmapped = address.hasPrefix("::ffff:") ? String(address.dropFirst(7)) : address
    return contains { $0.isUsable && ($0.address == address || $0.address == unmapped) }
  }
}
