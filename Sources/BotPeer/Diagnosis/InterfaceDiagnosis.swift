internal import ICE
internal import NIOCore

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
    let bound = configuration.bindAddresses.compactMap { IPAddress($0) }.filter { !$0.isUnspecified }
    let used = Set(try NetworkInterfaces.addresses(includingLoopback: configuration.includesLoopback))
    var all: [InterfaceDiagnosis] = []
    for device in try System.enumerateDevices().prefix(maximumAddresses) {
      guard let ip = device.address.flatMap(TransportAddress.init)?.ip else { continue }
      let isUsed = bound.isEmpty ? used.contains(ip) : bound.contains(ip)
      all.append(
        InterfaceDiagnosis(
          name: device.name, address: "\(ip)", isUsed: isUsed,
          reason: isUsed ? nil : Self.reason(ip, isBound: !bound.isEmpty)))
    }
    return all
  }

  private static func reason(_ ip: IPAddress, isBound: Bool) -> String {
    if isBound { return "another address was requested" }
    if ip.isLoopback { return "loopback, which reaches only this machine" }
    if ip.isLinkLocal { return "link-local, which has no meaning in another network" }
    if ip.isMulticast { return "multicast" }
    return "not used by calls"
  }
}
