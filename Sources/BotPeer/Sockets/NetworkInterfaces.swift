internal import Glibc
internal import ICE

/// The addresses of this machine.
enum NetworkInterfaces {
  /// Why the addresses cannot be read.
  struct ReadError: Error, CustomStringConvertible {
    let description: String
  }

  /// Returns every IPv4 and global IPv6 address of the interfaces that are up and connected; loopback only if
  /// `includingLoopback` is set or there is no other.
  ///
  /// IPv6 link-local addresses are left out: they mean nothing without a zone, which SDP cannot carry (RFC 8445,
  /// 5.1.1.1).
  static func addresses(includingLoopback: Bool) throws -> [IPAddress] {
    var ordinary: [IPAddress] = []
    var loopback: [IPAddress] = []
    for (_, address) in try present() {
      if address.isLoopback {
        loopback.append(address)
      } else if !address.isLinkLocal && !address.isMulticast && !ordinary.contains(address) {
        ordinary.append(address)
      }
    }
    return includingLoopback || ordinary.isEmpty ? ordinary + loopback : ordinary
  }

  /// Returns every IPv4 and global IPv6 address of some interfaces, in their order, with the interface's name.
  static func addresses(of names: [String]) throws -> [(interface: String, address: IPAddress)] {
    let all = try present().filter { !$0.address.isLinkLocal && !$0.address.isMulticast }
    return names.reduce(into: []) { found, name in
      for entry in all where entry.interface == name && !found.contains(where: { $0.address == entry.address }) {
        found.append(entry)
      }
    }
  }

  /// Returns the index of the interface with an address.
  static func index(of address: IPAddress) -> UInt32? {
    guard let name = try? present().first(where: { $0.address == address })?.interface else { return nil }
    let index = if_nametoindex(name)
    return index == 0 ? nil : index
  }

  /// Whether there is an interface with this name, up or not.
  static func exists(_ name: String) -> Bool { if_nametoindex(name) != 0 }

  /// The addresses of all interfaces with `IFF_UP` and `IFF_RUNNING` (netdevice(7)).
  private static func present() throws -> [(interface: String, address: IPAddress)] {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&first) == 0 else {
      throw ReadError(description: "The addresses of this machine cannot be read: \(String(cString: strerror(errno))).")
    }
    defer { freeifaddrs(first) }
    let needed = UInt32(IFF_UP | IFF_RUNNING)
    return sequence(first: first, next: { $0?.pointee.ifa_next }).prefix { $0 != nil }.compactMap { entry in
      guard let entry = entry?.pointee, entry.ifa_flags & needed == needed, let address = entry.ifa_addr,
        let ip = ip(of: address)
      else { return nil }
      return (String(cString: entry.ifa_name), ip)
    }
  }

  private static func ip(of address: UnsafeMutablePointer<sockaddr>) -> IPAddress? {
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
    let text = String(
      decoding: name.prefix { $0 != 0 && $0 != CChar(UInt8(ascii: "%")) }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    return IPAddress(text)
  }
}
