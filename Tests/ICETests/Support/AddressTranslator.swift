import ICE

/// A NAT that maps inside addresses to ports of one outside address. With a prefix it is a NAT64: inside, the addresses of
/// the outside have that prefix.
struct AddressTranslator {
  let outside: IPAddress
  /// Whether there is a port for each destination instead of one for each inside address (RFC 4787, 4.1).
  var isSymmetric = false
  /// Whether only packets from known destinations are let in (RFC 4787, 5).
  var isFiltering = true
  /// The prefix of a NAT64.
  var nat64: NAT64Prefix?
  private var nextPort: UInt16 = 40_000
  private var mappings: [(inside: TransportAddress, to: TransportAddress?, port: UInt16)] = []
  private var spokenTo: Set<[TransportAddress]> = []

  init(outside: IPAddress, isSymmetric: Bool = false, isFiltering: Bool = true, nat64: NAT64Prefix? = nil) {
    self.outside = outside
    self.isSymmetric = isSymmetric
    self.isFiltering = isFiltering
    self.nat64 = nat64
  }

  /// Returns the translated source of an outgoing packet.
  mutating func leaving(_ inside: TransportAddress, _ to: TransportAddress) -> TransportAddress {
    let key = isSymmetric ? to : nil
    let port: UInt16
    if let known = mappings.first(where: { $0.inside == inside && $0.to == key }) {
      port = known.port
    } else {
      nextPort += 1
      port = nextPort
      mappings.append((inside, key, port))
    }
    let source = TransportAddress(ip: outside, port: port)
    spokenTo.insert([source, to])
    return source
  }

  /// Returns the inside address of an incoming packet, or nil when it is dropped.
  func entering(_ to: TransportAddress, from: TransportAddress) -> TransportAddress? {
    guard to.ip == outside, !isFiltering || spokenTo.contains([to, from]) else { return nil }
    return mappings.first { $0.port == to.port }?.inside
  }

  /// Returns an outside address as it is outside.
  func outside(_ address: TransportAddress) -> TransportAddress {
    TransportAddress(ip: nat64?.embedded(in: address.ip) ?? address.ip, port: address.port)
  }

  /// Returns an outside address as it is inside.
  func inside(_ address: TransportAddress) -> TransportAddress { nat64?.synthesized(from: address) ?? address }

  /// Discards all mappings, like a NAT that was restarted.
  mutating func forget() {
    mappings = []
    spokenTo = []
  }
}
