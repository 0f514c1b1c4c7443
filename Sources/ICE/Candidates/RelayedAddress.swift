/// An address of a TURN server that relays to us (RFC 8656).
package struct RelayedAddress: Sendable, Hashable {
  /// The address that the remote peer sends to.
  package let address: TransportAddress
  /// Our address as the server sees it.
  package let mapped: TransportAddress
  /// The server's address.
  package let server: TransportAddress
  /// Higher for a cheaper way to the server, such as UDP instead of TCP; at most 1,000.
  package let preference: UInt16

  package init(address: TransportAddress, mapped: TransportAddress, server: TransportAddress, preference: UInt16) {
    self.address = address
    self.mapped = mapped
    self.server = server
    self.preference = preference
  }
}
