import ICE
import Media
import NIOCore
import TestSupport

/// The transport of a Chromium page during ICE restarts, as version 156 behaves.
///
/// It opens new ports when it gathers for a restart, and checks them at once with the remote credentials that it has. When a
/// check from a new port is answered, it sends its media from there. It does not leave a path that answers. On its former
/// ports it answers and receives, but sends no checks.
struct ChromiumPeer: Node {
  struct Port {
    let address: TransportAddress
    /// The page's credentials of the session that opened the port.
    let credentials: ICECredentials
    let generation: Int
  }

  struct Connection {
    let port: Port
    let remote: TransportAddress
    /// The credentials that its checks name; nil until the page knows them.
    var credentials: ICECredentials?
    var nextPing: MonotonicInstant
    var pings = 0
    var lastAnswer: MonotonicInstant?
    var firstUnanswered: MonotonicInstant?

    func isWritable(at now: MonotonicInstant) -> Bool {
      lastAnswer != nil && firstUnanswered.map { now - $0 < .seconds(5) } ?? true
    }
  }

  let isControlling: Bool
  /// Whether a connection to a remote candidate is replaced when a later description repeats the candidate.
  let replacesConnections: Bool
  private(set) var ports: [Port] = []
  private(set) var connections: [Connection] = []
  private var selected: (local: TransportAddress, remote: TransportAddress)?
  private var knownRemotes: [ICECredentials] = []
  private var remoteAddresses: [TransportAddress] = []
  private var pending: [STUNTransactionID: (local: TransportAddress, remote: TransportAddress)] = [:]
  private var actions: [ICEAgent.Action] = []
  private var wake: MonotonicInstant?
  private var generator: SeededGenerator

  init(isControlling: Bool, replacesConnections: Bool, seed: UInt64) {
    self.isControlling = isControlling
    self.replacesConnections = replacesConnections
    generator = SeededGenerator(seed: seed)
  }

  var hosts: [TransportAddress] { ports.map(\.address) }

  private var generation: Int { ports.last?.generation ?? 0 }

  var deadline: MonotonicInstant? {
    [wake, connections.lazy.filter { canPing($0) }.map(\.nextPing).min()].compactMap(\.self).min()
  }

  /// The connection on which media is sent; nil if there is none, or if it has not answered for 15 s.
  func mediaPath(at now: MonotonicInstant) -> (local: TransportAddress, remote: TransportAddress)? {
    guard let selected, let index = index(selected.local, selected.remote),
      connections[index].firstUnanswered.map({ now - $0 < .seconds(15) }) ?? true
    else { return nil }
    return selected
  }

  func takesMedia(from source: TransportAddress, to local: TransportAddress) -> Bool { index(local, source) != nil }

  // MARK: Descriptions

  /// Opens the ports of a new session.
  mutating func gather(_ credentials: ICECredentials, at addresses: [TransportAddress], now: MonotonicInstant) {
    let next = generation + 1
    for address in addresses {
      let port = Port(address: address, credentials: credentials, generation: next)
      ports.append(port)
      for remote in remoteAddresses { connect(port, to: remote, knownRemotes.last, now: now) }
    }
  }

  /// Applies the remote side's description.
  mutating func know(_ credentials: ICECredentials, _ addresses: [TransportAddress], now: MonotonicInstant) {
    if knownRemotes.last != credentials { knownRemotes.append(credentials) }
    remoteAddresses = addresses
    for index in connections.indices where connections[index].credentials == nil {
      connections[index].credentials = credentials
      connections[index].nextPing = now
    }
    for port in ports where port.generation == generation {
      for remote in addresses {
        if let index = index(port.address, remote) {
          guard replacesConnections || !connections[index].isWritable(at: now) else { continue }
          connections.remove(at: index)
        }
        connect(port, to: remote, credentials, now: now)
      }
    }
  }

  private mutating func connect(
    _ port: Port, to remote: TransportAddress, _ credentials: ICECredentials?, now: MonotonicInstant
  ) {
    connections.append(Connection(port: port, remote: remote, credentials: credentials, nextPing: now))
  }

  private func index(_ local: TransportAddress, _ remote: TransportAddress) -> Int? {
    connections.firstIndex { $0.port.address == local && $0.remote == remote }
  }

  // MARK: Datagrams

  mutating func take(
    _ datagram: ByteBuffer, from: TransportAddress, to: TransportAddress, now: MonotonicInstant
  ) {
    guard let message = try? STUNMessage(parsing: datagram), let port = ports.first(where: { $0.address == to }) else {
      return
    }
    if message.kind == .request {
      answer(message, on: port, from: from, now: now)
    } else if message.kind == .success, let path = pending.removeValue(forKey: message.transactionID),
      let index = index(path.local, path.remote)
    {
      connections[index].lastAnswer = now
      connections[index].firstUnanswered = nil
      connections[index].nextPing = now + .milliseconds(2_500)
      select(index, now: now)
    }
  }

  private mutating func answer(
    _ request: STUNMessage, on port: Port, from: TransportAddress, now: MonotonicInstant
  ) {
    let fragments = (request.username ?? "").split(separator: ":").map(String.init)
    let key = Array(port.credentials.password.utf8)
    guard fragments.first == port.credentials.usernameFragment, request.isAuthentic(key: key) else { return }
    if index(port.address, from) == nil {
      connect(port, to: from, knownRemotes.last { $0.usernameFragment == fragments.last }, now: now)
    }
    var response = STUNMessage(.success, transactionID: request.transactionID)
    response.xorMappedAddress = from
    actions.append(.send(response.encoded(integrityKey: key), from: port.address, to: from))
    wake = now
  }

  /// Moves to a connection that has answered, if it is on a newer port or the selected one does not work.
  private mutating func select(_ index: Int, now: MonotonicInstant) {
    let candidate = connections[index]
    if let selected, let current = self.index(selected.local, selected.remote),
      connections[current].isWritable(at: now),
      connections[current].port.generation >= candidate.port.generation
    {
      return
    }
    selected = (candidate.port.address, candidate.remote)
  }

  private func canPing(_ connection: Connection) -> Bool {
    connection.credentials != nil && connection.port.generation == generation
  }

  mutating func poll(now: MonotonicInstant) -> [ICEAgent.Action] {
    for index in connections.indices where canPing(connections[index]) && connections[index].nextPing <= now {
      ping(index, now: now)
    }
    wake = nil
    defer { actions = [] }
    return actions
  }

  private mutating func ping(_ index: Int, now: MonotonicInstant) {
    let connection = connections[index]
    guard let remote = connection.credentials else { return }
    var message = STUNMessage(.request, transactionID: .random(using: &generator))
    message.username = "\(remote.usernameFragment):\(connection.port.credentials.usernameFragment)"
    message.priority = 0x6EFF_FFFF
    if isControlling { message.iceControlling = 1 } else { message.iceControlled = 1 }
    message.usesCandidate = isControlling
    actions.append(
      .send(
        message.encoded(integrityKey: Array(remote.password.utf8)), from: connection.port.address,
        to: connection.remote))
    pending[message.transactionID] = (connection.port.address, connection.remote)
    connections[index].pings += 1
    connections[index].firstUnanswered = connection.firstUnanswered ?? now
    connections[index].nextPing = now + .milliseconds(connection.pings < 5 ? 100 : 480)
  }
}
