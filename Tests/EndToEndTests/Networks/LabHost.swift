import Foundation

/// A host of the laboratory, in which programs run.
final class LabHost: Sendable {
  /// The IP versions that a host or a router has.
  struct Families: OptionSet, Sendable {
    let rawValue: Int

    static let ipv4 = Families(rawValue: 1)
    static let ipv6 = Families(rawValue: 2)
    static let both: Families = [.ipv4, .ipv6]
  }

  let namespace: LabNamespace
  /// In the order in which they were added; the first one has the preferred default route.
  let uplinks: [LabUplink]
  /// The `resolv.conf` of its programs; nil for that of the machine, whose server no host reaches.
  let resolver: URL?

  init(namespace: LabNamespace, uplinks: [LabUplink], resolver: URL? = nil) {
    self.namespace = namespace
    self.uplinks = uplinks
    self.resolver = resolver
  }

  var name: String { namespace.name }

  /// The first address: IPv4 if it has one.
  var address: String { uplinks.lazy.compactMap { $0.ipv4 ?? $0.ipv6 }.first ?? "" }

  /// The first address as a part of a URL.
  var urlHost: String { address.contains(":") ? "[\(address)]" : address }

  /// The prefix of a command that runs on this host. A resolver of its own needs a mount namespace.
  var prefix: [String] {
    guard let resolver else { return namespace.network.prefix }
    let script = "mount --bind '\(resolver.path)' \"$(readlink -f /etc/resolv.conf)\" && exec \"$@\""
    return namespace.network.prefix + ["unshare", "--mount", "sh", "-c", script, "sh"]
  }
}
