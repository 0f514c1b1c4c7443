public import Signalling

/// How a ``RoomSession`` deals with a room.
public struct RoomPolicy: Sendable {
  /// Called with each event of the signalling before the session sees it, in order. It returns the event as the session is to see
  /// it, for example without participants that must not be called, or nil to skip it. Later events wait until it returns.
  public var filter: (@Sendable (SignallingEvent) async -> SignallingEvent?)?
  /// Whether the stay ends if the connection to the server is lost before we have joined, for example because the room is full. If
  /// not, the client tries again.
  public var endsIfNotAdmitted = true
  /// Whether the session closes the peer when the signalling has ended. If not, calls go on until the program closes the peer.
  public var closesPeer = true
  /// How long the first description may wait for the answers of STUN and TURN servers, where the signalling carries no candidates
  /// after it.
  public var gatheringLimit = Duration.seconds(1)

  public init() {}
}
