internal import Glibc
internal import ICE
internal import LocalInterfaces

/// The addresses of this machine.
enum NetworkInterfaces {
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

  /// The addresses of all interfaces that are up and connected.
  private static func present() throws -> [(interface: String, address: IPAddress)] {
    try InterfaceAddress.all().filter(\.isUsable).compactMap { entry in
      IPAddress(entry.address).map { (entry.interface, $0) }
    }
  }
}
