package import ICE
package import Media

/// The local addresses, which may change during calls, and the names of remote ones.
extension PeerDemultiplexer {
  /// Adds a server-reflexive address of one of our sockets.
  package func addServerReflexive(_ mapped: TransportAddress, base: TransportAddress) {
    if reflexiveAddresses.count >= Self.maximumReflexiveAddresses { reflexiveAddresses.removeFirst() }
    reflexiveAddresses.append((mapped, base))
    for engine in engines.values {
      engine.addServerReflexive(mapped, base: base)
      markForPoll(engine)
    }
  }

  /// Adds an address of a TURN server that relays to us. Datagrams that are sent from it go to the server.
  package func addRelayed(_ relay: RelayedAddress, now: MonotonicInstant) {
    relayedAddresses.append(relay)
    for engine in engines.values {
      engine.addRelayed(relay, now: now)
      markForPoll(engine)
    }
  }

  /// Sets the NAT64 prefix of an IPv6-only network; nil if there is none.
  package func setNAT64(_ prefix: NAT64Prefix?, now: MonotonicInstant) {
    nat64 = prefix
    for engine in engines.values {
      engine.setNAT64(prefix, now: now)
      markForPoll(engine)
    }
  }

  /// Adds the address of a new socket.
  package func addLocalHost(_ address: TransportAddress, now: MonotonicInstant) {
    localAddresses.append(address)
    for engine in engines.values {
      engine.addLocalHost(address, now: now)
      markForPoll(engine)
    }
  }

  /// Removes a local address, of a socket or of a relay, that exists no more.
  package func removeLocal(_ address: TransportAddress, now: MonotonicInstant) {
    localAddresses.removeAll { $0 == address }
    relayedAddresses.removeAll { $0.address == address }
    reflexiveAddresses.removeAll { $0.base == address }
    byPath = byPath.filter { $0.key.local != address }
    for engine in engines.values {
      engine.removeLocal(address, now: now)
      markForPoll(engine)
    }
  }

  /// Notes that the TCP connection of a path was not established or has ended.
  package func connectionEnded(
    local: TransportAddress, remote: TransportAddress, of participant: ParticipantID, now: MonotonicInstant
  ) {
    guard let engine = engines[participant] else { return }
    // Another participant may get the same port of a NAT. Paths of connections that we open are not registered.
    byPath[Path(local: local, remote: remote)] = nil
    engine.connectionEnded(local: local, remote: remote, now: now)
    markForPoll(engine)
  }

  /// Prepares for the end of a relayed address that another one replaces. New connections do not use it.
  package func retireRelayed(_ address: TransportAddress, now: MonotonicInstant) {
    relayedAddresses.removeAll { $0.address == address }
    for engine in engines.values {
      engine.retireRelayed(address, now: now)
      markForPoll(engine)
    }
  }

  /// Whether a connection still uses a local address.
  package func uses(_ address: TransportAddress) -> Bool { engines.values.contains { $0.uses(address) } }

  /// Looks for a new path to a participant.
  package func restartICE(of participant: ParticipantID) {
    guard let engine = engines[participant] else { return }
    engine.requestICERestart()
    markForPoll(engine)
  }

  /// Sends an offer again that the participant has not answered.
  package func repeatOffer(to participant: ParticipantID, now: MonotonicInstant) {
    guard let engine = engines[participant] else { return }
    engine.repeatOffer(now: now)
    markForPoll(engine)
  }

  /// Returns the names of candidates to look up; each is followed by ``resolved(_:to:now:)``.
  package func takeNamesToResolve() -> [String] {
    defer { namesToResolve = [] }
    return namesToResolve
  }

  /// Handles the addresses of a name in lowercase letters, none if nobody answered.
  package func resolved(_ name: String, to addresses: [IPAddress], now: MonotonicInstant) {
    for engine in engines.values where engine.resolved(name, to: addresses, now: now) { markForPoll(engine) }
  }
}
