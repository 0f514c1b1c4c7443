package import Media
package import Signalling

extension JanusSession {
  /// Sends a message of the peer. It is discarded if it has no meaning in the state of its participant.
  package mutating func send(
    _ message: SignallingMessage, to participant: ParticipantID, now: MonotonicInstant
  ) -> JanusOutput {
    var output = JanusOutput()
    let isPublication = participant == publication?.participant
    guard state == .joined else {
      if case .offer(let sdp) = message, remember(sdp, for: participant) { return output }
      output.note("A message for \(participant.text.printable()) is discarded, because we are not in the room.")
      return output
    }
    switch message {
    case .offer(let sdp) where isPublication:
      publish(sdp, now: now, into: &output)
    case .offer where subscriptions[participant]?.isConnected == true:
      // The server offers its feeds, so an offer of ours becomes a request for a new one of the server.
      requestRestart(of: participant, isRepeated: false, now: now, into: &output)
    case .answer(let sdp) where !isPublication:
      start(sdp, of: participant, now: now, into: &output)
    case .candidate(let candidate):
      guard let handle = isPublication ? roomHandle : subscriptions[participant]?.handle else {
        output.note("A candidate is discarded, because it belongs to no connection.")
        break
      }
      var request = JanusRequest("trickle")
      request.handleID = handle
      request.candidate = JanusCandidate(candidate)
      send(request, .unimportant, now: now, into: &output)
    case .offer, .answer:
      output.note("A description is discarded: we offer what we publish, and the server offers its feeds.")
    }
    return output
  }

  /// Remembers an offer in a call that goes on without the server: it is sent if the session can be continued.
  ///
  /// - Returns: whether there is such a call.
  private mutating func remember(_ sdp: String, for participant: ParticipantID) -> Bool {
    if participant == publication?.participant, publication?.isAnswered == true {
      publication?.unansweredOffer = sdp
      return true
    }
    guard subscriptions[participant]?.isConnected == true else { return false }
    subscriptions[participant]?.restart = .wanted
    return true
  }

  /// Notes that the peer has ended its connection to a participant. A feed is subscribed to again.
  package mutating func hangUp(_ participant: ParticipantID, now: MonotonicInstant) -> JanusOutput {
    var output = JanusOutput()
    guard subscriptions[participant]?.isConnected == true else { return output }
    if state == .joined {
      resubscribe(to: participant, now: now, into: &output)
    } else {
      subscriptions[participant]?.connectionEnded()
    }
    return output
  }
}
