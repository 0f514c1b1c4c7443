package import ICE
package import Media
package import NIOCore
internal import RTP

/// The assignment of datagrams to engines.
extension PeerDemultiplexer {
  /// Handles a datagram received from one of the sockets. What belongs to no engine is counted and dropped; it costs one
  /// look-up.
  ///
  /// - Parameters:
  ///   - datagram: the datagram, decrypted in place; its buffer should not be shared, or its bytes are copied first.
  ///   - participant: the participant for whom the TCP connection was opened that the datagram arrived on; nil for all
  ///     other datagrams.
  package func received(
    _ datagram: inout ByteBuffer, from remote: TransportAddress, to local: TransportAddress,
    of participant: ParticipantID? = nil, now: MonotonicInstant
  ) {
    let path = Path(local: local, remote: remote)
    let kind = PacketKind.of(datagram)
    if kind == .stun {
      guard let engine = recipient(ofSTUN: datagram, on: path, of: participant, now: now) else {
        datagramsDropped &+= 1
        return
      }
      engine.received(&datagram, as: kind, from: remote, to: local, now: now)
      markForPoll(engine)
      if participant == nil { claim(path, for: engine, now: now) }
    } else if let participant {
      // Another participant may have a connection with the same addresses, so the path says nothing.
      guard let engine = engines[participant] else { return }
      if hasSuspendedVideo, kind == .rtp, engine.isValidated(local: local, remote: remote),
        engine.discardIfSuspended(&datagram, now: now)
      {
        return
      }
      engine.received(&datagram, as: kind, from: remote, to: local, now: now)
      markForPoll(engine)
    } else if let engine = byPath[path] {
      if hasSuspendedVideo, kind == .rtp, engine.discardIfSuspended(&datagram, now: now) { return }
      engine.received(&datagram, as: kind, from: remote, to: local, now: now)
      guard kind == .rtp else { return markForPoll(engine) }
      // Most packets only become part of an incomplete frame.
      let next = engine.mediaChanged(now: now)
      if next.isDue {
        markForPoll(engine)
      } else if next.isSooner {
        schedule.update(engine, now: now)
      }
    } else {
      datagramsDropped &+= 1
    }
  }

  /// Handles a datagram of which the caller has no further use.
  package func received(
    _ datagram: consuming ByteBuffer, from remote: TransportAddress, to local: TransportAddress,
    now: MonotonicInstant
  ) {
    received(&datagram, from: remote, to: local, now: now)
  }

  /// Assigns a path to an engine after a check has succeeded on it.
  ///
  /// A path of another engine is reassigned only to an engine whose own check was answered there, which a sender with a
  /// forged address cannot achieve. Then the other program has begun a new call, and the old one is over.
  private func claim(_ path: Path, for engine: PeerConnection, now: MonotonicInstant) {
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
    switch message.kind {
    case .request: message.localUsernameFragment.flatMap { byUsernameFragment[$0] }
    case .success, .errorResponse: awaitedResponses[message.transactionID] ?? byPath[path]
    case .indication: byPath[path]
    }
  }

  // MARK: STUN

  /// Returns the engine that must verify a STUN message; nil if it is for none, or there have been too many.
  private func recipient(
    ofSTUN datagram: ByteBuffer, on path: Path, of participant: ParticipantID?, now: MonotonicInstant
  ) -> PeerConnection? {
    guard let message = STUNRouting(datagram) else { return nil }
    if let participant {
      guard let engine = engines[participant], engine.transport.checkAllowance.takeKnown(now: now) else { return nil }
      return engine
    }
    switch message.kind {
    case .request:
      guard let fragment = message.localUsernameFragment, let engine = byUsernameFragment[fragment] else { return nil }
      if byPath[path] === engine { return engine.transport.checkAllowance.takeKnown(now: now) ? engine : nil }
      // First the participant's allowance, so that who knows their fragment does not use up that of all others.
      guard engine.transport.checkAllowance.takeUnknown(now: now), unknownChecks.take(from: path.remote.ip, now: now)
      else {
        return nil
      }
      return engine
    case .success, .errorResponse:
      guard let engine = awaitedResponses[message.transactionID], engine.transport.checkAllowance.takeKnown(now: now)
      else {
        return nil
      }
      return engine
    case .indication:
      return byPath[path]
    }
  }

  /// Whether a datagram is an ICE check for one of the participants' connections; its password is not verified.
  package func isCheck(_ datagram: ByteBuffer) -> Bool {
    guard PacketKind.of(datagram) == .stun, let message = STUNRouting(datagram), message.kind == .request,
      message.method == .binding, let fragment = message.localUsernameFragment
    else { return false }
    return byUsernameFragment[fragment] != nil
  }

  /// The participant whose check has validated a path; nil if there is none.
  package func participant(local: TransportAddress, remote: TransportAddress) -> ParticipantID? {
    guard let engine = byPath[Path(local: local, remote: remote)], engine.isValidated(local: local, remote: remote)
    else { return nil }
    return engine.participant
  }

  /// Notes which engine awaits the response to a check.
  func noteCheck(_ action: PeerConnection.Action, of engine: PeerConnection) {
    guard case .transmit(let datagram, _, _) = action,
      let first = datagram.getInteger(at: datagram.readerIndex, as: UInt8.self), first == 0,
      let message = STUNRouting(datagram), message.kind == .request
    else { return }
    awaitedResponses.sent(message.transactionID, by: engine)
  }
}
