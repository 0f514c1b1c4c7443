public import BotPeer
public import Signalling

/// What happens in a room.
public enum RoomEvent: Sendable {
  /// The signalling reports something. The session acts on it after this event was handled.
  case signalling(SignallingEvent)
  /// Something has happened to the connection to a participant. The session acts on it after this event was handled.
  case connection(ParticipantEvent)
  /// Something that the signalling assigned cannot be used; one sentence.
  case problem(String)
  /// The signalling has ended; reported once. Connections may go on until the peer is closed.
  case ended(RoomEndReason)
}

/// Why the signalling of a room has ended.
public enum RoomEndReason: Sendable, Hashable, CustomStringConvertible {
  /// We left.
  case left
  /// The server refused the join; a sentence or clause with the server's own words.
  case notAdmitted(String)
  /// The server rejects what we are to do, for example to publish; one sentence.
  case rejected(String)
  /// The signalling has ended for good, for example because the server closed the room; one sentence.
  case closed(String)

  /// The reason as a clause or sentence.
  public var description: String {
    switch self {
    case .left: "the room was left"
    case .notAdmitted(let reason): "the server refused the join: \(reason)"
    case .rejected(let reason), .closed(let reason): reason
    }
  }
}
