import ICE

/// The TCP connections of a simulated path: the system chooses the port of each one that is opened.
struct ConnectionTable {
  private struct Connection {
    let opener: TransportAddress
    let source: TransportAddress
    let listener: TransportAddress
  }

  private var connections: [Connection] = []
  private var nextPort: UInt16 = 50_000

  /// Returns the source of a datagram as the other side sees it, opening a connection if necessary.
  mutating func leaving(_ from: TransportAddress, _ to: TransportAddress) -> TransportAddress {
    guard from.isActiveTCP else { return from }
    if let known = connections.first(where: { $0.opener == from && $0.listener == to }) { return known.source }
    nextPort += 1
    let source = TransportAddress(ip: from.ip, port: nextPort, transport: .tcp)
    connections.append(Connection(opener: from, source: source, listener: to))
    return source
  }

  /// Returns the local address of the side that a datagram reaches; nil if there is no such connection.
  func entering(_ to: TransportAddress, from: TransportAddress) -> TransportAddress? {
    guard to.transport == .tcp else { return to }
    if connections.contains(where: { $0.source == from && $0.listener == to }) { return to }
    return connections.first { $0.source == to && $0.listener == from }?.opener
  }

  /// Ends all connections.
  ///
  /// - Returns: the address of each end, the opener's first.
  mutating func endAll() -> [(opener: TransportAddress, source: TransportAddress, listener: TransportAddress)] {
    defer { connections = [] }
    return connections.map { ($0.opener, $0.source, $0.listener) }
  }
}
