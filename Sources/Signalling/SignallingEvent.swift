public import Media

/// What a signalling channel reports, in order. It is the same for every server, so that a peer and a program need to know none.
public enum SignallingEvent: Sendable, Hashable {
  /// We are in the room under the id `id`, and the others were there before us: we send each of them an offer.
  ///
  /// It is repeated after every lost connection. With this project's server the ids are the same as before; other servers assign
  /// new ones. A participant who is not in `others` any more has lost the server too, and may return.
  case joined(id: ParticipantID, others: [ParticipantID])
  /// A participant came after us: they send the offer.
  case participantJoined(ParticipantID)
  /// A participant's connection to the server ended.
  ///
  /// - Parameter isReturnVerified: whether the server gives the id only to the same participant again. If it does not, an offer
  ///   under the id with another DTLS certificate belongs to a new connection.
  case participantLeft(ParticipantID, isReturnVerified: Bool)
  /// A participant sent a message.
  case message(SignallingMessage, from: ParticipantID)
  /// The connection to the server is lost; the next attempt follows after `retryAfter`. Comes once for every failed attempt.
  /// Calls continue without the server.
  case connectionLost(reason: String, retryAfter: Duration)
}
