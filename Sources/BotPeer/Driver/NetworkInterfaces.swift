internal import ICE
internal import NIOCore
internal import NIOPosix

/// The addresses at which this machine can be reached.
enum NetworkInterfaces {
  /// Every IPv4 and global IPv6 address of an interface that is up, loopback only if `includingLoopback` is set or there is
  /// nothing else.
  ///
  /// IPv6 link-local addresses are left out: they mean nothing without a zone, which SDP cannot carry (RFC 8445, 5.1.1.1).
  static func addresses(includingLoopback: Bool) throws -> [IPAddress] {
    var ordinary: [IPAddress] = []
    var loopback: [IPAddress] = []
    for device in try System.enumerateDevices() {
      guard let address = device.address.flatMap(TransportAddress.init)?.ip else { continue }
      if address.isLoopback {
        loopback.append(address)
      } else if !address.isLinkLocal && !address.isMulticast && !ordinary.contains(address) {
        ordinary.append(address)
      }
    }
    return includingLoopback || ordinary.isEmpty ? ordinary + loopback : ordinary
  }
}
