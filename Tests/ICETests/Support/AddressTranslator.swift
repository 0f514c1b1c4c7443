import ICE

/// A NAT that maps inside addresses to ports of one outside address.
struct AddressTranslator {
  let outside: IPAddress
  /// Whether there is a port for each destination instead of one for each inside address (RFC 4787, 4.1).
  var isSymmetric = false
  /// Whether only packets from known destinations are let in (RFC 4787, 5).
  var isFiltering = true
  private var nextPort: UInt16 = 40_000
  private var mappings: [(inside: TransportAddress, to: TransportAddress?, port: UInt16)] = []
  private var spokenTo: Set<[TransportAddress]> = []

  init(outside: IPAddress, isSymmetric: Bool = false, isFiltering: Bool = true) {
    self.outside = outside
    self.isSymmetric = isSymmetric
    self.isFiltering = isFiltering
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

  /// Discards all mappings, like a NAT that was restarted.
  mutating func forget() {
    mappings = []
    spokenTo = []
  }
}
