internal import ICE
internal import Logging
internal import Media
internal import NIOCore
internal import PeerEngine

/// STUN and TURN servers, and the NAT64 through which those with only IPv4 are reached.
extension PeerDriver {
  /// Whether a STUN or TURN server has neither answered nor failed yet.
  var isGathering: Bool {
    if let nat64, nat64.isDiscovering, !servers.isEmpty { return true }
    return gatherers.values.contains(where: \.isGathering) || relays?.isGathering ?? false
  }

  /// Starts querying the STUN servers for the mapped addresses of the sockets, and requests an allocation on each TURN
  /// server.
  func use(_ servers: ICEServers) {
    self.servers.add(servers)
    useServers(now: .now)
    carryOutAll(now: .now)
  }

  /// Uses the servers that are not used yet and whose addresses can be reached.
  func useServers(now: MonotonicInstant) {
    gatherServerReflexive(now: now)
    guard !servers.turn.isEmpty, !sockets.isEmpty else { return }
    relays = relays ?? makeRelays()
    let reach = RelaySet.Reach(
      sources: Set(sockets.keys.map(\.ip)), nat64: nat64?.prefix, isUnknown: nat64?.isDiscovering ?? false)
    relays?.use(servers.turn, reach, now: now) { handle($0, now: now) }
    demultiplexer.relayFailure = relays?.failure
  }

  /// Reaches IPv4 participants and servers through the NAT64 of the network, if it has one.
  func updateNAT64(now: MonotonicInstant) {
    guard let nat64, nat64.poll(now: now) else { return }
    if let prefix = nat64.prefix { log.debug("network with NAT64", metadata: ["prefix": "\(prefix)"]) }
    demultiplexer.setNAT64(nat64.prefix, now: now)
    useServers(now: now)
  }

  private func makeRelays() -> RelaySet {
    RelaySet(
      configuration, on: loop, log: log,
      opened: { [unowned self] socket in poller?.add(socket.descriptor, of: self) },
      closing: { [unowned self] socket in poller?.remove(socket.descriptor) },
      streamWasRead: { [unowned self] in carryOutAll(now: .now) })
  }

  private func gatherServerReflexive(now: MonotonicInstant) {
    guard configuration.iceTransportPolicy == .all, !servers.stun.isEmpty else { return }
    let synthesized = servers.stun.compactMap { nat64?.prefix?.synthesized(from: $0) }
    for address in sockets.keys {
      // A remote server cannot answer a loopback address, and a local server cannot tell the mapped address of another.
      let reachable = (servers.stun + synthesized).filter {
        $0.family == address.family && $0.ip.isLoopback == address.ip.isLoopback
      }
      guard !reachable.isEmpty else { continue }
      gatherers[address, default: ServerReflexiveGatherer(base: address, servers: [], now: now)].add(
        reachable, now: now)
    }
  }

  func gather(now: MonotonicInstant) {
    relays?.poll(now: now) { handle($0, now: now) }
    relays?.release(now: now, isUsed: { demultiplexer.uses($0) }, { handle($0, now: now) })
    for (name, addresses) in names?.poll(now: now) ?? [] { demultiplexer.resolved(name, to: addresses, now: now) }
    if gatherers.isEmpty { return }
    for base in gatherers.keys {
      for action in gatherers[base]?.poll(now: now) ?? [] {
        switch action {
        case .send(let datagram, let server): sockets[base]?.write(datagram, to: server)
        case .mapped(let mapped, _): demultiplexer.addServerReflexive(mapped, base: base)
        case .failed(let server): log.debug("STUN server did not answer", metadata: ["server": "\(server)"])
        }
      }
    }
  }

  func handle(_ event: RelayEvent, now: MonotonicInstant) {
    switch event {
    case .added(let relay): demultiplexer.addRelayed(relay, now: now)
    case .removed(let address): demultiplexer.removeLocal(address, now: now)
    case .resultChanged: demultiplexer.relayFailure = relays?.failure
    case .retired(let address): demultiplexer.retireRelayed(address, now: now)
    case .received(var datagram, let remote, let local):
      newlyRead &+= 1
      datagrams.received(&datagram, from: remote, to: local, now: now)
    }
  }
}
