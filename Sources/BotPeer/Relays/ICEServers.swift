internal import Glibc
internal import ICE
internal import NIOCore
internal import NIOPosix
internal import Signalling

/// A TURN server whose name is resolved.
struct TURNServer: Sendable {
  let url: ICEServerURL
  let credentials: TURNCredentials
  let addresses: [TransportAddress]
  /// Whether the signalling assigned it. The user's own servers precede those.
  var isAssigned = false
}

/// The STUN and TURN servers of a peer, with resolved names.
struct ICEServers: Sendable {
  /// The addresses of STUN servers.
  var stun: [TransportAddress] = []
  var turn: [TURNServer] = []

  var isEmpty: Bool { stun.isEmpty && turn.isEmpty }

  /// How many addresses of STUN servers, and how many TURN servers, are kept.
  static let maximumServers = 32

  /// Adds the servers that are not there yet, and the new credentials of those that are. The user's own credentials are
  /// preferred to those that the signalling assigned.
  mutating func add(_ others: ICEServers) {
    for address in others.stun where !stun.contains(address) && stun.count < Self.maximumServers {
      stun.append(address)
    }
    for server in others.turn {
      guard let index = turn.firstIndex(where: { $0.url == server.url }) else {
        // A room server may name others each time that we join.
        if turn.count >= Self.maximumServers, let oldest = turn.firstIndex(where: \.isAssigned) {
          turn.remove(at: oldest)
        }
        if turn.count < Self.maximumServers { turn.append(server) }
        continue
      }
      if turn[index].isAssigned || !server.isAssigned { turn[index] = server }
    }
  }

  /// Resolves the name of each server on a thread pool. A server without an address is an error, because the user
  /// requested it.
  static func resolve(_ servers: [ICEServer]) async throws(Peer.StartError) -> ICEServers {
    var all = ICEServers()
    for server in servers { try await all.add(server) }
    return all
  }

  /// Resolves a server and adds it.
  mutating func add(_ server: ICEServer) async throws(Peer.StartError) {
    let url: ICEServerURL
    do {
      url = try ICEServerURL(parsing: server.url)
    } catch {
      throw .badIceServer(server.shown, reason: "\(error)")
    }
    let found: [TransportAddress]
    do {
      found = try await NIOThreadPool.singleton.runIfActive { Self.lookUp(url.host, port: url.port) }
    } catch {
      throw .badIceServer(server.shown, reason: "The name could not be resolved: \(error).")
    }
    guard !found.isEmpty else { throw .badIceServer(server.shown, reason: "\(url.host) has no address.") }
    let permitted = found.filter { NetworkScope(address: $0.ip.bytes) >= server.narrowestScope }
    guard !permitted.isEmpty else {
      let scope = found.map { NetworkScope(address: $0.ip.bytes) }.max() ?? .loopback
      throw .badIceServer(
        server.shown,
        reason: "\(url.host) is in \(scope), but the server that named it is in \(server.narrowestScope).")
    }
    guard url.kind == .turn else {
      for address in permitted where !stun.contains(address) { stun.append(address) }
      return
    }
    let given = server.username.map { TURNCredentials(username: $0, password: server.credential ?? "") }
    guard let credentials = given ?? url.credentials else {
      throw .badIceServer(server.shown, reason: "A TURN server needs a user name and a password.")
    }
    // IPv4 first: more networks have it.
    turn.append(
      TURNServer(
        url: url, credentials: credentials,
        addresses: permitted.filter { $0.family == .v4 } + permitted.filter { $0.family == .v6 }))
  }

  /// Returns all addresses of a name, because each local socket needs one of its own family. Blocks.
  static func lookUp(_ host: String, port: UInt16) -> [TransportAddress] {
    if let address = TransportAddress(host, port: port) { return [address] }
    return query(host, port: port).addresses
  }

  /// Asks the system's resolver for the addresses of a name. Blocks.
  ///
  /// - Parameter family: `AF_UNSPEC` for both.
  /// - Returns: the status of `getaddrinfo`, 0 for success, and the addresses, each once.
  static func query(
    _ host: String, family: Int32 = AF_UNSPEC, port: UInt16
  ) -> (status: Int32, addresses: [TransportAddress]) {
    var hints = addrinfo()
    hints.ai_family = family
    hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
    var first: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, nil, &hints, &first)
    guard status == 0 else { return (status, []) }
    defer { freeaddrinfo(first) }
    var addresses: [TransportAddress] = []
    var next = first
    while let entry = next?.pointee {
      var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let isNamed =
        getnameinfo(entry.ai_addr, entry.ai_addrlen, &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST) == 0
      let text = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      if isNamed, let address = TransportAddress(text, port: port), !addresses.contains(address) {
        addresses.append(address)
      }
      next = entry.ai_next
    }
    return (status, addresses)
  }
}
