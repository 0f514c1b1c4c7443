internal import ICE
internal import Media
internal import SDP
internal import Signalling

/// The negotiation with one participant: the offers and answers, the candidates that are signalled, and what distinguishes
/// one connection of the participant from the next.
struct PeerNegotiation {
  /// A completed exchange of descriptions.
  struct Exchange {
    let session: NegotiatedSession
    /// Our answer; nil if the offer was ours.
    let answer: String?
    /// Whether the participant's description belongs to another connection than their last one.
    let isOtherConnection: Bool

    var isOfferer: Bool { answer == nil }
  }

  /// How long the other side may take to answer an offer during a call, before its own offer takes precedence in any case: some
  /// clients answer no offer during a call.
  private static let answerTimeout = Duration.seconds(10)

  var negotiator: Negotiator
  /// Whether offer and answer have been exchanged.
  private(set) var hasExchangedDescriptions = false
  /// Whether the participant's id may belong to another participant by now: the signalling verifies nobody, or they left,
  /// and it does not verify who uses an id again.
  private(set) var isIdentityUncertain: Bool

  private let settings: ICESettings
  /// When our last offer that followed an answered one was sent.
  private var lastOffer: MonotonicInstant?
  /// Whether the participant has answered an offer during the call.
  private var hasAnsweredLaterOffer = false
  /// The connection that the participant's last description belongs to.
  private var remoteConnection: RemoteConnectionIdentity?
  /// The media section that trickled candidates name: the one that carries the bundle.
  private var firstSection = TrickledCandidate(candidate: "", mid: "0", mLineIndex: 0)
  /// How many of the local candidates have been trickled.
  private var trickledCount = 0
  private var rejections = RejectionReporter()
  /// The codecs of ours that the participant did not accept in the last exchange.
  private var unacceptedCodecs: Set<Codec> = []

  init(_ negotiator: Negotiator, settings: ICESettings, isIdentityVerified: Bool) {
    self.negotiator = negotiator
    self.settings = settings
    isIdentityUncertain = !isIdentityVerified
  }

  // MARK: Offers and answers

  /// Returns an offer of ours.
  ///
  /// - Parameter isRepeated: whether it is the one that the participant has not answered.
  mutating func createOffer(isRepeated: Bool = false, now: MonotonicInstant) -> String {
    if isRepeated || !negotiator.isAwaitingAnswer { lastOffer = now }
    // The candidates may be lost as well.
    if isRepeated { trickledCount = 0 }
    return negotiator.createOffer()
  }

  /// Returns an offer of ours that restarts ICE.
  mutating func createRestartOffer(now: MonotonicInstant) -> String {
    negotiator.restartICE()
    return createOffer(now: now)
  }

  /// Applies the participant's offer; returns nil if it is ignored because ours takes precedence.
  mutating func receivedOffer(_ sdp: String, now: MonotonicInstant) throws(NegotiationError) -> Exchange? {
    guard let (answer, session) = try negotiator.receivedOffer(sdp, givesWay: isAnswerOverdue(now: now)) else {
      return nil
    }
    return complete(session, answer: answer, description: sdp)
  }

  /// Applies the participant's answer; returns nil if it has no effect.
  mutating func receivedAnswer(_ sdp: String) throws(NegotiationError) -> Exchange? {
    guard let session = try negotiator.receivedAnswer(sdp) else { return nil }
    if hasExchangedDescriptions { hasAnsweredLaterOffer = true }
    return complete(session, answer: nil, description: sdp)
  }

  private func isAnswerOverdue(now: MonotonicInstant) -> Bool {
    guard hasExchangedDescriptions, !hasAnsweredLaterOffer, let lastOffer else { return false }
    return now - lastOffer > Self.answerTimeout
  }

  private mutating func complete(_ session: NegotiatedSession, answer: String?, description: String) -> Exchange {
    hasExchangedDescriptions = true
    if session.isICERestart { trickledCount = 0 }
    if let first = session.media.first.map({ ($0.mid, $0.index) }) ?? session.data.map({ ($0.mid, $0.index) }) {
      (firstSection.mid, firstSection.mLineIndex) = first
    }
    let former = remoteConnection
    let connection = RemoteConnectionIdentity(description)
    remoteConnection = connection ?? former
    return Exchange(
      session: session, answer: answer,
      isOtherConnection: connection.map { former?.isReplaced(by: $0) == true } ?? false)
  }

  // MARK: Reports

  /// The sections that are rejected now, as they were reported.
  var rejectedSections: [RejectedSection] { rejections.reported }

  /// Notes the rejected sections of an exchange, and returns those that must be reported.
  mutating func report(_ rejected: [RejectedSection], now: MonotonicInstant) -> [RejectedSection] {
    rejections.update(rejected, now: now)
  }

  /// Notes the codecs of ours that the participant does not accept, and returns those that must be reported, in order.
  mutating func reportUnaccepted(of session: NegotiatedSession) -> [Codec] {
    defer { unacceptedCodecs = session.unacceptedCodecs }
    return session.unacceptedCodecs.subtracting(unacceptedCodecs).sorted { $0.rawValue < $1.rawValue }
  }

  // MARK: Candidates

  /// Adds a local candidate to later descriptions and to those that are trickled.
  mutating func add(_ candidate: ICECandidate) {
    if let text = settings.signalledText(of: candidate) { negotiator.addLocalCandidate(text) }
  }

  /// Leaves candidates out of what is signalled from now on.
  ///
  /// - Parameter removed: with their former indices, in ascending order.
  mutating func forget(_ removed: [(index: Int, candidate: ICECandidate)]) {
    for (index, candidate) in removed.reversed() {
      if let text = settings.signalledText(of: candidate) { negotiator.removeLocalCandidate(text) }
      if index < trickledCount { trickledCount -= 1 }
    }
  }

  /// Returns each local candidate that has not been trickled yet: a page may ignore those in the description.
  ///
  /// - Parameter candidates: all local candidates.
  mutating func trickle(_ candidates: [ICECandidate]) -> [TrickledCandidate] {
    let new = candidates.dropFirst(trickledCount)
    trickledCount = candidates.count
    return new.compactMap { candidate in
      guard let text = settings.signalledText(of: candidate) else { return nil }
      var trickled = firstSection
      trickled.candidate = text
      return trickled
    }
  }

  // MARK: Other connections

  /// Notes that the participant has left the room.
  ///
  /// - Parameter isRejoinVerified: whether the server never assigns their id to another participant.
  mutating func participantLeft(isRejoinVerified: Bool) {
    if !isRejoinVerified { isIdentityUncertain = true }
  }

  /// Returns whether an offer can only be answered by a new engine.
  ///
  /// That is also so where the participant presents the same certificate as before, because then nothing indicates that
  /// DTLS restarts, and where we await the answer to an offer of ours that takes precedence, because the old connection
  /// cannot answer it any more.
  func needsNewEngine(forOffer sdp: String) -> Bool {
    guard let remoteConnection, let later = RemoteConnectionIdentity(sdp), remoteConnection.isReplaced(by: later) else {
      return false
    }
    return isIdentityUncertain || remoteConnection.hasCertificate(of: later)
      || negotiator.isAwaitingAnswer && !negotiator.isPolite
  }

  /// Returns whether an answer must not be used by this engine. It cannot be used by a new one either, because it belongs to
  /// this engine's offer: the new engine has to offer.
  func needsNewEngine(forAnswer sdp: String) -> Bool {
    guard isIdentityUncertain, let remoteConnection, let later = RemoteConnectionIdentity(sdp),
      !remoteConnection.hasCertificate(of: later)
    else { return false }
    // An answer that has no effect ends nothing.
    var negotiator = negotiator
    return (try? negotiator.receivedAnswer(sdp)) != nil
  }
}
