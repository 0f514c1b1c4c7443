internal import ICE
internal import Media
internal import PeerEngine

/// The names of candidates, by multicast DNS.
extension PeerDriver {
  /// Begins to look up the names of participants' candidates.
  func resolveNames(now: MonotonicInstant) {
    for name in demultiplexer.takeNamesToResolve() {
      joinNames()
      names?.resolve(name, now: now)
    }
  }

  /// Uses multicast DNS on the present interfaces.
  func joinNames() {
    let names =
      names
      ?? NameResolver(
        hostNames: hostNames, log: log, opened: { [unowned self] in poller?.add($0.descriptor, of: self) },
        closing: { [unowned self] in poller?.remove($0.descriptor) })
    self.names = names
    names.join(sockets.keys.map(\.ip))
  }
}
