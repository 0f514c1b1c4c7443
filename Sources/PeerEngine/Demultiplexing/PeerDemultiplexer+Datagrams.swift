package import ICE
package import Media
package import NIOCore
internal import RTP

/// The assignment of datagrams to engines.
extension PeerDemultiplexer {
  /// Handles a datagram received from one of the sockets.
  ///
  /// - Parameters:
  ///   - datagram: the datagram, decrypted in place; its buffer should not be shared, or its bytes are copied first.
  ///   - participant: the participant for whom the TCP connection was opened that the datagram arrived on; nil for all
  ///     other datagrams.
  package func received(
    _ datagram: inout ByteBuffer, from remote: TransportAddress, to local: TransportAddress,
    of participant: ParticipantID? = nil, now: MonotonicInstant
  ) {
    if impaired != nil, !passesInbound(datagram, from: remote, to: local, of: participant, now: now.instant) { return }
    deliver(&datagram, from: remote, to: local, of: participant, now: now)
  }

  /// Handles a datagram of which the caller has no further use.
  package func received(
    _ datagram: consuming ByteBuffer, from remote: TransportAddress, to local: TransportAddress,
    now: ContinuousClock.Instant
  ) {
    received(&datagram, from: remote, to: local, now: MonotonicInstant(now))
  }

  /// Passes a datagram to its engine.
  func deliver(
    _ datagram: inout ByteBuffer, from remote: TransportAddress, to local: TransportAddress,
    of participant: ParticipantID? = nil, now: MonotonicInstant
  ) {
    let path = Path(local: local, remote: remote)
    let kind = PacketKind.of(datagram)
    if let participant {
      // Another participant may have a connection with the same addresses, so the path says nothing.
      guard let engine = engines[participant] else { return }
      if hasSuspendedVideo, kind == .rtp, engine.isValidated(local: local, remote: remote),
        engine.discardIfSuspended(&datagram, now: now)
      {
        return
      }
      engine.received(&datagram, as: kind, from: remote, to: local, now: now)
      markForPoll(engine)
    } else if kind == .stun {
      guard let routing = STUNRouting(datagram), let engine = owner(of: routing, on: path) else { return }
      engine.received(&datagram, as: kind, from: remote, to: local, now: now)
      markForPoll(engine)
      claim(path, for: engine, now: now.instant)
    } else if let engine = byPath[path] {
      if hasSuspendedVideo, kind == .rtp, engine.discardIfSuspended(&datagram, now: now) { return }
      engine.received(&datagram, as: kind, from: remote, to: local, now: now)
      // Most packets only become part of an incomplete frame.
      if kind == .rtp { engine.mediaChanged() }
      if kind != .rtp || engine.nextPollDue.map({ $0 <= now }) ?? true { markForPoll(engine) }
    }
  }

  /// Assigns a path to an engine after a check has succeeded on it.
  ///
  /// A path of another engine is reassigned only to an engine whose own check was answered there, which a sender with a
  /// forged address cannot achieve. Then the other program has begun a new call, and the old one is over.
  private func claim(_ path: Path, for engine: PeerConnection, now: ContinuousClock.Instant) {
    if byPath[path] === engine { return }
    guard engine.isValidated(local: path.local, remote: path.remote) else { return }
    if let owner = byPath[path], owner !== engine {
      guard engine.path?.local == path.local, engine.path?.remote == path.remote else { return }
      owner.close(CloseReason(.connectionLost, "Another call has begun between the same addresses."), now: now)
      markForPoll(owner)
    }
    if byPath.count >= Self.pathLimit { byPath = byPath.filter { $1.isValidated(local: $0.local, remote: $0.remote) } }
    byPath[path] = engine
  }

  /// Returns the engine of a datagram, or nil if it belongs to none.
  func owner(
    of datagram: ByteBuffer, from remote: TransportAddress, to local: TransportAddress, of participant: ParticipantID?
  ) -> PeerConnection? {
    if let participant { return engines[participant] }
    let path = Path(local: local, remote: remote)
    guard PacketKind.of(datagram) == .stun else { return byPath[path] }
    return STUNRouting(datagram).flatMap { owner(of: $0, on: path) }
  }

  private func owner(of message: STUNRouting, on path: Path) -> PeerConnection? {
    if let recipient = message.localUsernameFragment { return byUsernameFragment[recipient] }
    let likely = byPath[path]
    if let likely, likely.owns(transactionID: message.transactionID) { return likely }
    return engines.values.first { $0.owns(transactionID: message.transactionID) } ?? likely
  }
}
