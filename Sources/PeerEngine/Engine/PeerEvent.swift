public import Media
public import Signalling

/// What happens between us and one participant.
public enum PeerEvent: Sendable, Hashable {
  /// To be carried to the participant.
  case signal(SignallingMessage)
  case stateChanged(ConnectionState)
  /// A step on the way to a connection was treated as the first time.
  case reached(ConnectionMilestone)
  /// What the participant sends.
  case media(MediaEvent)
  /// The participant needs a keyframe of what we send.
  case keyframeRequested
  /// What the line to the participant takes, of all that we send, in bits a second (RTP headers included, what is sent again
  /// not), and the share of packets that is lost, 0 to 1. Told when it has changed by a twentieth: at once when it has fallen,
  /// else ten times a second at most.
  case targetBitrate(Int, fractionLost: Double)
  /// Something of theirs was refused and nothing else happened; one sentence.
  case problem(String)
  /// The connection is over; nothing follows.
  case ended(CloseReason)
}

/// A step on the way to a connection, told once when it is first taken.
public enum ConnectionMilestone: String, Sendable, Hashable, CaseIterable {
  /// Our first ICE check was sent (RFC 8445, 7.2.4).
  case checksBegun
  /// One of our ICE checks was answered with success.
  case checkAnswered
  /// There is a pair of addresses that works both ways.
  case iceConnected
  /// The first authentic RTP packet came.
  case firstPacket
}

/// How far the connection to one participant has come; the words are those of `RTCPeerConnectionState`.
public enum ConnectionState: String, Sendable, Hashable {
  /// Nothing has been sent.
  case new
  /// Offer, answer, ICE or DTLS are under way.
  case connecting
  /// Media can flow both ways.
  case connected
  /// Nothing has been heard for some seconds; it may come back.
  case disconnected
  /// It could not be made, or was lost for good.
  case failed
  /// It has been ended by either side.
  case closed
}

/// How a connection came to its end.
public struct CloseReason: Sendable, Hashable, CustomStringConvertible {
  public enum Cause: String, Sendable, Hashable {
    /// We ended it.
    case closedByUs
    /// The participant ended it.
    case closedByParticipant
    /// Nothing was heard from the participant any more.
    case connectionLost
    /// It could not be made, or may not continue: a wrong certificate, for example.
    case failed
  }

  public var cause: Cause
  /// One sentence.
  public var sentence: String

  public init(_ cause: Cause, _ sentence: String) {
    self.cause = cause
    self.sentence = sentence
  }

  public var description: String { sentence }
}
