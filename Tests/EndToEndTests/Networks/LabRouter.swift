/// A router between a local network and the internet, with a NAT for IPv4 and a firewall.
///
/// It routes IPv6 without a NAT, and lets in only answers.
final class LabRouter: Sendable {
  let namespace: LabNamespace
  let kind: NATKind
  /// The number of its local network: 10.NUMBER.0.0/24 and 2001:db8:NUMBER::/64.
  let number: Int
  let families: LabHost.Families
  /// Its address in the internet.
  let publicAddress: String

  init(
    namespace: LabNamespace, kind: NATKind, number: Int, families: LabHost.Families, publicAddress: String
  ) {
    self.namespace = namespace
    self.kind = kind
    self.number = number
    self.families = families
    self.publicAddress = publicAddress
  }
}
