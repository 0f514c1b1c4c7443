public import Media

/// An event of a signalling channel. It is the same for every system, so that a peer and a program need no knowledge of
/// the server.
public enum SignallingEvent: Sendable, Hashable {
  /// We joined the room with the id `id`; `others` were there before us.
  ///
  /// Repeated after every lost connection. A server that knows its clients again assigns the same id as before; others
  /// assign a new one. A participant who is no longer in `others` has lost the server too, and may return.
  case joined(id: ParticipantID, others: [SignalledParticipant])
  /// A participant joined after us.
  case participantJoined(SignalledParticipant)
  /// A participant's connection to the server ended, or they hung up.
  ///
  /// - Parameter isRejoinVerified: whether the server assigns this id only to the same participant again. If it does
  ///   not, a description with this id and another DTLS certificate belongs to a new connection.
  case participantLeft(ParticipantID, isRejoinVerified: Bool)
  /// A participant sent a message.
  case message(SignallingMessage, from: ParticipantID)
  /// The system assigned these ICE servers; they replace those that it assigned before. Delivered before the event of
  /// the participant that they are for.
  case iceServers([ICEServer])
  /// The connection to the server is lost; the next attempt follows after `retryAfter`. Reported once for each failed
  /// attempt. Calls continue without the server.
  case connectionLost(reason: String, retryAfter: Duration)
  /// The server rejects what we are to do, for example to publish or to join again, and nothing more is tried. One sentence,
  /// with the server's own words. In a room of which we receive something else, further events may follow.
  case rejected(reason: String)
  /// The signalling has ended and does not return, for example because the server closed the room. The last event.
  case closed(reason: String)
}

/// A participant of a room, as a signalling system announces them.
public struct SignalledParticipant: Sendable, Hashable {
  /// Which side sends the first offer.
  public enum Offerer: Sendable, Hashable {
    case local
    case remote
  }

  /// The media that the system carries between us and this participant.
  public enum Direction: Sendable, Hashable {
    case sendReceive
    /// We only send: the participant is a media server that receives what we publish.
    case sendOnly
    /// We only receive.
    case receiveOnly
  }

  public var id: ParticipantID
  /// The name for people, if the system knows one.
  public var name: String?
  public var offerer: Offerer
  public var direction: Direction
  /// Whether the participant may not be there yet: our offer waits for them.
  public var isExpected: Bool
  /// Whether the system guarantees that every message under this id is from the same participant, until they leave.
  ///
  /// If not, a description with another DTLS certificate belongs to another connection, perhaps of somebody else, and
  /// what it carries is not added to what was recorded before.
  public var isIdentityVerified: Bool
  /// Whether the participant is a media server that forwards what others send, and cannot turn the frames of a phone.
  public var forwardsMedia: Bool

  public init(
    _ id: ParticipantID, name: String? = nil, offerer: Offerer, direction: Direction = .sendReceive,
    isExpected: Bool = false, isIdentityVerified: Bool = false, forwardsMedia: Bool = false
  ) {
    self.id = id
    self.isExpected = isExpected
    self.isIdentityVerified = isIdentityVerified
    self.forwardsMedia = forwardsMedia
    self.name = name
    self.offerer = offerer
    self.direction = direction
  }
}

/// A STUN or TURN server that a signalling system assigns (RFC 7064, RFC 7065).
public struct ICEServer: Sendable, Hashable, ExpressibleByStringLiteral {
  /// For example `stun:stun.example.org:3478` or `turn:turn.example.org?transport=udp`.
  public var url: String
  public var username: String?
  /// The password. Never log it.
  public var credential: String?
  /// The narrowest scope of an address of the server that is used: that of the server that named it.
  package var narrowestScope = NetworkScope.loopback

  public init(url: String, username: String? = nil, credential: String? = nil) {
    self.url = url
    self.username = username
    self.credential = credential
  }

  public init(stringLiteral url: String) { self.init(url: url) }
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
