package import Media
internal import NIOCore

/// How a connection ends.
extension PeerConnection {
  /// Sends goodbyes and ends the connection; the next ``poll(now:wallClock:)`` returns the last datagrams and events.
  package func close(_ ending: CloseReason, now: MonotonicInstant) {
    end(ending, now: now)
  }

  /// Handles the signalling server's message that the participant has left the room.
  ///
  /// The server sends it when they close the page, and also when only their connection to the server breaks. So a connected
  /// call continues as long as media arrives, and indefinitely once another signalling message of theirs arrives; otherwise
  /// it ends at once.
  ///
  /// - Parameter isRejoinVerified: whether the server never assigns their id to another participant.
  package func participantLeft(isRejoinVerified: Bool = true, now: MonotonicInstant) {
    guard isOpen else { return }
    negotiation.participantLeft(isRejoinVerified: isRejoinVerified)
    if transport.participantLeft(now: now) || state != .connected { endAfterLeaving(now: now) }
  }

  func endAfterLeaving(now: MonotonicInstant) {
    end(CloseReason(.closedByParticipant, "The participant left the room."), now: now)
  }

  /// Ends the call because the participant is not heard any more, or answers no check.
  func endAsLost(now: MonotonicInstant) {
    end(CloseReason(.connectionLost, transport.giveUp(now: now)), now: now)
  }

  /// Ends the call with a reason that states how far connecting got, so that a person can find the cause.
  func giveUpConnecting(now: MonotonicInstant) {
    let seconds = configuration.connectingTimeout.components.seconds
    let reached =
      if negotiation.hasExchangedDescriptions {
        transport.progress
      } else {
        state == .new ? "no usable offer arrived" : "no answer arrived"
      }
    end(CloseReason(.failed, "Not connected within \(seconds) s: \(reached)."), now: now)
  }

  /// Ends everything: emits what media still buffers, and sends goodbyes if there is a path.
  func end(_ ending: CloseReason, now: MonotonicInstant) {
    guard isOpen else { return }
    let goodbyes = actions.count
    outputs = media.close(now: now)
    carryOutOutputs()
    channels.end()
    reportDataChannels(now: now)
    transmit(secure.close())
    repeatGoodbyes(from: goodbyes)
    transport.end()
    switch ending.cause {
    case .closedByUs, .closedByParticipant: change(to: .closed)
    case .connectionLost, .failed: change(to: .failed)
    }
    emit(.ended(ending))
  }

  /// Repeats the last datagrams of a call, because they are not retransmitted when they are lost: without a BYE or
  /// `close_notify` the other side waits for half a minute.
  private func repeatGoodbyes(from first: Int) {
    let goodbyes = actions.dropFirst(first).filter { if case .transmit = $0 { true } else { false } }
    for _ in 0..<2 { actions += goodbyes }
  }
}
