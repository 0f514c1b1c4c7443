package import PeerEngine

/// What a peer can do on purpose that it should not do, or that is rare, to test the robustness of an app.
///
/// Times count from when the connection to a participant stands. A fault is injected for every participant separately.
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

  /// What the peer does, in a sentence.
  public var title: String {
    switch self {
    case .candidateBeforeOffer:
      "Sends its ICE candidates first, and its offer or answer a second later."
    case .secondOffer:
      "Offers again after 3 s, though nothing has changed, anyone who made the first offer."
    case .ssrcChange:
      "Sends audio and video from new SSRCs after 3 s, without a word by signalling or RTCP."
    case .sizeChange:
      "Changes the size of its frame every 2 s, each time with a keyframe."
    case .absurdTimestamps:
      "From 2 s on, for a tenth of a second in every other one, RTP timestamps lie an hour ahead, an hour back or half the "
        + "way round; then they are right again."
    case .paddingOnly:
      "Sends RTP packets that hold nothing but padding, in place of all audio and video."
    case .suddenLeave:
      "Falls silent after 5 s, without RTCP BYE, DTLS alert or a word by signalling, as a crashed program does."
    case .slowAnswer:
      "Takes 8 s before it answers an offer; until then it does nothing. It needs an app that enters the room after it, "
        + "because the newcomer offers."
    case .wrongFingerprint:
      "Names a fingerprint in its offer or answer that is not its certificate's."
    }
  }

  /// What the other side should make of it, in one or two sentences.
  public var whatAGoodAppDoes: String {
    switch self {
    case .candidateBeforeOffer:
      "Keeps candidates until it has a description to add them to (addIceCandidate throws before that), and connects as "
        + "usual (RFC 9429, 4.1.19; RFC 8838)."
    case .secondOffer:
      "Answers it with the same sections, transport and DTLS role (RFC 3264, 8; RFC 8842, 5.5); audio and video continue "
        + "without a seam, and nobody appears twice."
    case .ssrcChange:
      "Continues with the same tracks after at most a request for a keyframe: packets belong to a section by their MID or "
        + "payload type when the SSRC is new (RFC 9143, 9.2; RFC 3550, 8.2)."
    case .sizeChange:
      "Shows each new size with its keyframe, keeps the frame's proportions, and neither freezes nor tears; a recording "
        + "stays playable (RFC 6386, 9.1)."
    case .absurdTimestamps:
      "Skips or shows at once the few frames concerned, and continues in sync with what is right again; it never waits "
        + "for an hour, and fills none with silence (sender reports continue telling the true time: RFC 3550, 6.4.1)."
    case .paddingOnly:
      "Counts the packets as received, not as lost, shows the peer as one without audio and video, requests keyframes at a "
        + "limited rate, and keeps the call (RFC 3550, 5.1)."
    case .suddenLeave:
      "Says within some seconds that the peer does not answer (iceConnectionState disconnected), stops sending at the latest "
        + "30 s after one of its checks was last answered, when its consent to send runs out (RFC 7675, 5.1), and then takes the "
        + "peer off the screen."
    case .slowAnswer:
      "Waits, keeps its candidates and its offer, does not offer again, and connects when the answer comes; if it gives up, it "
        + "does so with a clear message and not before half a minute."
    case .wrongFingerprint:
      "Ends the DTLS handshake, takes and sends no media, and tells the user that the connection failed: anybody may sit "
        + "between the two (RFC 8122, 6.2; RFC 5763, 5; RFC 8827, 6.5)."
    }
  }

  /// Whether it is the source of frames that does it, and not the peer: anyone who makes the frames must be told.
  public var isOfSource: Bool { self == .sizeChange }

  /// What injects the fault into the engine of a participant; nil if the engine has no part in it.
  package var injector: (any FaultInjector)? {
    switch self {
    case .candidateBeforeOffer: CandidateFirst()
    case .secondOffer: TimedFault(.offerAgain, after: .seconds(3))
    case .ssrcChange: TimedFault(.changeSources, after: .seconds(3))
    case .sizeChange: nil
    case .absurdTimestamps: TimedFault(.alterPackets(AbsurdTimestamps()), after: .zero)
    case .paddingOnly: TimedFault(.alterPackets(PaddingOnly()), after: .zero)
    case .suddenLeave: TimedFault(.fallSilent, after: .seconds(5))
    case .slowAnswer: SlowAnswer()
    case .wrongFingerprint: WrongFingerprint()
    }
  }
}
