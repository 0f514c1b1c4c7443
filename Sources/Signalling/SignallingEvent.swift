public import Media

/// An event of a signalling channel. It is the same for every server, so that a peer and a program need no knowledge of
/// the server.
public enum SignallingEvent: Sendable, Hashable {
  /// We joined the room with the id `id`. The `others` joined before us, so we send each of them an offer.
  ///
  /// Repeated after every lost connection. This project's server assigns the same id as before; other servers assign a
  /// new one. A participant who is no longer in `others` has lost the server too, and may return.
  case joined(id: ParticipantID, others: [ParticipantID])
  /// A participant joined after us, so they send the offer.
  case participantJoined(ParticipantID)
  /// A participant's connection to the server ended.
  ///
  /// - Parameter isRejoinVerified: whether the server assigns this id only to the same participant again. If it does
  ///   not, an offer with this id and another DTLS certificate belongs to a new connection.
  case participantLeft(ParticipantID, isRejoinVerified: Bool)
  /// A participant sent a message.
  case message(SignallingMessage, from: ParticipantID)
  /// The connection to the server is lost; the next attempt follows after `retryAfter`. Reported once for each failed
  /// attempt. Calls continue without the server.
  case connectionLost(reason: String, retryAfter: Duration)
}

/// A message from one peer to another that negotiates the connection. A server or any other channel carries it.
public enum SignallingMessage: Sendable, Hashable {
  /// A session description of type `offer` (RFC 9429, 4.1.8).
  case offer(String)
  /// A session description of type `answer`.
  case answer(String)
  case candidate(TrickledCandidate)
}

/// An ICE candidate that is sent separately from the description (RFC 8838, RFC 8840).
public struct TrickledCandidate: Sendable, Hashable {
  /// The value of the candidate attribute, for example `candidate:1 1 udp 2122260223 10.0.0.1 5000 typ host`; empty for
  /// the end of candidates.
  public var candidate: String
  /// The `a=mid` of its media section. SkyRTC clients of 2013 do not send it.
  public var mid: String?
  /// The index of its media section in the description, from 0.
  public var mLineIndex: Int?

  public init(candidate: String, mid: String? = nil, mLineIndex: Int? = nil) {
    self.candidate = candidate
    self.mid = mid
    self.mLineIndex = mLineIndex
  }
}
