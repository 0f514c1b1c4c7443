public import Media
public import Signalling

/// An event of the connection to one participant.
public enum PeerEvent: Sendable, Hashable {
  /// A message that the signalling must carry to the participant.
  case signal(SignallingMessage)
  case stateChanged(ConnectionState)
  /// A milestone of connecting was reached for the first time.
  case reached(ConnectionMilestone)
  /// ICE has selected the first pair of addresses, or another one with other types; the latter also if more is known of
  /// the same pair.
  case pathSelected(CandidateTypes)
  /// Received media, unless the peer passes it to media sinks.
  case media(MediaEvent)
  /// The participant requests a keyframe of our video.
  case keyframeRequested
  /// The bitrate that the network path to the participant can carry, for everything that we send, in bits a second (RTP
  /// headers included, retransmissions not), and the share of packets that is lost, 0 to 1. Reported when it has changed by
  /// a twentieth: at once when it has fallen, else at most ten times a second.
  case targetBitrate(Int, fractionLost: Double)
  /// We restart ICE: an offer with the credentials of a new session follows. Media continues on the present path until a new one
  /// works.
  case iceRestarted(ICERestartReason)
  /// A media section of an offer was rejected, by us or by the participant, and nothing flows in it. Reported once for each
  /// section, and again when what is rejected changes; before the answer that rejects it (`signal`), or before the `problem`
  /// with an offer of which nothing can be used.
  case sectionRejected(RejectedSection)
  /// The kinds of media that the participant sends to us according to the last exchange of descriptions. Those of rejected
  /// sections count. Reported after the first exchange with media sections, and when it changes; empty for one who only receives.
  case mediaAnnounced(Set<MediaKind>)
  /// A message of the participant was refused and changed nothing; one sentence.
  case problem(String)
  /// The connection has ended; no event follows.
  case ended(CloseReason)
}

/// Why a connection ended.
public struct CloseReason: Sendable, Hashable, CustomStringConvertible {
  public enum Cause: String, Sendable, Hashable {
    /// We ended it.
    case closedByUs
    /// The participant ended it.
    case closedByParticipant
    /// Nothing was received from the participant any more.
    case connectionLost
    /// It could not be established, or must not continue: a wrong certificate, for example.
    case failed
  }

  public var cause: Cause
  /// One sentence.
  public var sentence: String
  /// Whether another connection under the same id takes the place of this one, so that the call in the signalling system
  /// goes on.
  public var isReplaced: Bool

  public init(_ cause: Cause, _ sentence: String, isReplaced: Bool = false) {
    self.cause = cause
    self.sentence = sentence
    self.isReplaced = isReplaced
  }

  public var description: String { sentence }
}
