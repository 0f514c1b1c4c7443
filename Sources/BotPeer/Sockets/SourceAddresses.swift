internal import ICE

/// The local addresses that sockets to servers send from.
struct SourceAddresses: Sendable, Hashable {
  /// The interfaces to send from; empty for any.
  var interfaces: [String]
  /// The addresses to send from if no interface is given; empty for those that the system chooses.
  var addresses: [IPAddress]

  /// - Parameter texts: IP addresses. Those that are unspecified leave the choice to the system.
  init(interfaces: [String], addresses texts: [String]) {
    self.interfaces = interfaces
    addresses = texts.compactMap { IPAddress($0) }.filter { !$0.isUnspecified }
  }

  /// Returns an address of a family, and its interface if the socket must be bound to that; both are nil where the system
  /// chooses. Nil if the interfaces have no such address.
  func source(of family: IPAddress.Family) -> (ip: IPAddress?, interface: String?)? {
    guard !interfaces.isEmpty else { return (addresses.first { $0.family == family }, nil) }
    let found = try? NetworkInterfaces.addresses(of: interfaces).first { $0.address.family == family }
    return found.map { ($0.address, $0.interface) }
  }

  /// The names of the interfaces as part of a sentence.
  var interfaceNames: String {
    "\(interfaces.count == 1 ? "interface" : "interfaces") \(interfaces.joined(separator: ", "))"
  }
}
