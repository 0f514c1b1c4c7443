internal import Media
package import PeerEngine

/// Something that a peer does on purpose although it should not, or that is rare, to test the robustness of an app.
///
/// Times count from when the connection to a participant is established. A fault is injected for every participant
/// separately.
public enum Fault: String, Sendable, Hashable, CaseIterable {
  case candidateBeforeOffer = "candidate-before-offer"
  case secondOffer = "second-offer"
  case ssrcChange = "ssrc-change"
  case sizeChange = "size-change"
  case absurdTimestamps = "absurd-timestamps"
  case paddingOnly = "padding-only"
  case suddenLeave = "sudden-leave"
  case slowAnswer = "slow-answer"
  case wrongFingerprint = "wrong-fingerprint"

  /// What the peer does, as a sentence.
  public var title: String {
    switch self {
    case .candidateBeforeOffer:
      "Sends its ICE candidates first, and its offer or answer a second later."
    case .secondOffer:
      "Sends another offer after 3 s, although nothing has changed, whichever side made the first offer."
    case .ssrcChange:
      "Sends audio and video from new SSRCs after 3 s, without announcing it by signalling or RTCP."
    case .sizeChange:
      "Changes the size of its video frames every 2 s, each time with a keyframe."
    case .absurdTimestamps:
      "From 2 s on, for a tenth of a second in every other second, RTP timestamps are an hour ahead, an hour behind or half "
        + "the range away; then they are right again."
    case .paddingOnly:
      "Sends RTP packets that hold nothing but padding, instead of all audio and video."
    case .suddenLeave:
      "Stops sending after 5 s, without RTCP BYE, DTLS alert or signalling message, as a crashed program does."
    case .slowAnswer:
      "Waits 8 s before it answers an offer and does nothing until then. The app must enter the room after it, "
        + "because the newcomer offers."
    case .wrongFingerprint:
      "Sends a fingerprint in its offer or answer that is not its certificate's."
    }
  }

  /// What the app on the other side is expected to do, in one or two sentences.
  public var expectedBehavior: String {
    switch self {
    case .candidateBeforeOffer:
      "Keeps candidates until it has a description to add them to (addIceCandidate throws before that), and connects as "
        + "usual (RFC 9429, 4.1.19; RFC 8838)."
    case .secondOffer:
      "Answers it with the same sections, transport and DTLS role (RFC 3264, 8; RFC 8842, 5.5); audio and video continue "
        + "without interruption, and no participant appears twice."
    case .ssrcChange:
      "Continues with the same tracks after at most a keyframe request: packets belong to a media section by their MID or "
        + "payload type when the SSRC is new (RFC 9143, 9.2; RFC 3550, 8.2)."
    case .sizeChange:
      "Shows each new size with its keyframe, keeps the frame's aspect ratio, and neither freezes nor tears; a recording "
        + "stays playable (RFC 6386, 9.1)."
    case .absurdTimestamps:
      "Skips the few frames concerned or shows them at once, and continues in sync when the timestamps are right; it never waits "
        + "for an hour, and never inserts an hour of silence (sender reports still state the true time: RFC 3550, 6.4.1)."
    case .paddingOnly:
      "Counts the packets as received, not as lost, shows the peer as one without audio and video, requests keyframes at a "
        + "limited rate, and keeps the call (RFC 3550, 5.1)."
    case .suddenLeave:
      "Shows within some seconds that the peer does not answer (iceConnectionState disconnected), stops sending at the latest "
        + "30 s after one of its checks was last answered, when its consent to send expires (RFC 7675, 5.1), and then removes "
        + "the peer from the screen."
    case .slowAnswer:
      "Waits, keeps its candidates and its offer, does not offer again, and connects when the answer arrives; if it gives up, it "
        + "does so with a clear message and not before half a minute."
    case .wrongFingerprint:
      "Aborts the DTLS handshake, accepts and sends no media, and tells the user that the connection failed: there may be a "
        + "man in the middle (RFC 8122, 6.2; RFC 5763, 5; RFC 8827, 6.5)."
    }
  }

  /// Whether the source of the frames injects the fault, not the peer: then the source must be configured with it.
  public var isInjectedBySource: Bool { self == .sizeChange }

  /// What injects the fault into the RTP packets to one participant; nil if it does not change them.
  package var rtp: (any RTPInterceptor)? {
    switch self {
    case .absurdTimestamps: AbsurdTimestamps()
    case .paddingOnly: PaddingOnly()
    case .candidateBeforeOffer, .secondOffer, .ssrcChange, .sizeChange, .suddenLeave, .slowAnswer, .wrongFingerprint:
      nil
    }
  }

  /// What injects the fault into the connection to one participant, or only counts it; nil if the source injects it.
  package var connection: (any ConnectionInterceptor)? {
    switch self {
    case .candidateBeforeOffer: CandidateFirst()
    case .secondOffer: TimedFault([.offer], after: .seconds(3))
    case .ssrcChange: TimedFault([.changeSources], after: .seconds(3))
    case .sizeChange: nil
    // Their packets are changed from the first one on, which is sent when the connection is established.
    case .absurdTimestamps, .paddingOnly: TimedFault([], after: .zero)
    case .suddenLeave: TimedFault([.abandon(Self.suddenLeaveReason)], after: .seconds(5))
    case .slowAnswer: SlowAnswer()
    case .wrongFingerprint: WrongFingerprint()
    }
  }

  private static let suddenLeaveReason = CloseReason(
    .closedByUs, "We stopped sending on purpose, without a goodbye.")
}

/// Gives the connection some commands once, some time after it is established.
struct TimedFault: ConnectionInterceptor {
  private let commands: [ConnectionCommand]
  private let delay: Duration
  private(set) var deadline: MonotonicInstant?
  private(set) var interventions: UInt64 = 0

  init(_ commands: [ConnectionCommand], after delay: Duration) {
    self.commands = commands
    self.delay = delay
  }

  mutating func due(isConnected: Bool, now: MonotonicInstant) -> [ConnectionCommand] {
    guard isConnected, interventions == 0 else { return [] }
    let due = deadline ?? now + delay
    deadline = due
    guard due <= now else { return [] }
    deadline = nil
    interventions = 1
    return commands
  }
}
