package import Media
package import Signalling

extension JanusSession {
  /// Sends a message of the peer. It is discarded if it has no meaning in the state of its participant.
  package mutating func send(
    _ message: SignallingMessage, to participant: ParticipantID, now: ContinuousClock.Instant
  ) -> JanusOutput {
    var output = JanusOutput()
    guard state == .joined else {
      output.note("A message for \(participant.text.printable()) is discarded, because we are not in the room.")
      return output
    }
    let isPublication = participant == publication?.participant
    switch message {
    case .offer(let sdp) where isPublication:
      publish(sdp, now: now, into: &output)
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
}
