internal import ICE
internal import LocalInterfaces

/// An address of this machine, and whether calls use it.
public struct InterfaceDiagnosis: Sendable, Hashable, Codable {
  public var name: String
  public var address: String
  public var isUsed: Bool
  /// Why calls do not use it, as a clause.
  public var reason: String?

  public init(name: String, address: String, isUsed: Bool, reason: String? = nil) {
    self.name = name
    self.address = address
    self.isUsed = isUsed
    self.reason = reason
  }

  /// How many addresses are listed.
  private static let maximumAddresses = 128

  static func all(_ configuration: NetworkDiagnosis.Configuration) throws -> [InterfaceDiagnosis] {
    let sources = configuration.sources
    let bound = sources.addresses
    let used =
      if sources.interfaces.isEmpty {
        bound.isEmpty ? try NetworkInterfaces.addresses(includingLoopback: configuration.includesLoopback) : bound
      } else {
        try NetworkInterfaces.addresses(of: sources.interfaces).map(\.address)
      }
    var all: [InterfaceDiagnosis] = []
    for entry in try InterfaceAddress.all().prefix(maximumAddresses) {
      guard let ip = IPAddress(entry.address) else { continue }
      let isUsed = entry.isUsable && used.contains(ip)
      let reason = entry.isUsable ? Self.reason(ip, on: entry.interface, sources) : "the interface is down"
      all.append(
        InterfaceDiagnosis(
          name: entry.interface, address: "\(ip)", isUsed: isUsed, reason: isUsed ? nil : reason))
    }
    return all
  }

  private static func reason(_ ip: IPAddress, on interface: String, _ sources: SourceAddresses) -> String {
    if !sources.interfaces.isEmpty, !sources.interfaces.contains(interface) { return "another interface was requested" }
    if !sources.addresses.isEmpty { return "another address was requested" }
    if ip.isLoopback { return "loopback, which reaches only this machine" }
    if ip.isLinkLocal { return "link-local, which has no meaning in another network" }
    if ip.isMulticast { return "multicast" }
    return "not used by calls"
  }
}
