package import ICE
package import Media
internal import SDP

/// The offers and answers exchanged with one remote peer (RFC 3264, RFC 8829): a state machine of text in, text out.
///
/// ```
///                      createOffer
///        ┌──────────┐ ─────────────────────────────► ┌────────────────┐
///     ┌─►│  stable  │                                │ haveLocalOffer │◄─┐
///     └──│          │ ◄───────────────────────────── │                │──┘
///  offer └──────────┘  answer to our offer;          └────────────────┘  offer, if we are impolite:
///  → answer            offer, if we are polite:                          ignored
///                      ours is rolled back → answer
/// ```
///
/// A description that cannot be used changes nothing. Each section of ours keeps its place among the m-lines for ever,
/// because the place is its identity (RFC 3264, 8).
///
/// Skipped on purpose: provisional answers (`pranswer`), more than one section of a kind, codecs other than Opus and
/// VP8, sending simulcast, encrypted header extensions, a separate transport for a section outside the bundle: such a
/// section is refused. SkyRTC clients and browsers use none of these, or do without.
package struct Negotiator: Sendable {
  /// An offer of ours that waits for its answer.
  struct Offer: Sendable {
    var sections: [LocalSection]
    var bundle: [String]
    var credentials: ICECredentials
    /// What was settled when it was made.
    var previous: NegotiatedSession?
  }

  enum State: Sendable {
    case stable
    case haveLocalOffer(Offer)
  }

  /// What we say of ourselves. Its credentials are those of the last completed exchange.
  package internal(set) var local: LocalDescription
  /// What the last completed exchange settled; nil before the first.
  package internal(set) var session: NegotiatedSession?
  /// Whether we give way when both sides offer at once. One of the two sides must be polite, and not both.
  package let isPolite: Bool

  var state = State.stable
  /// Our sections as last agreed.
  var sections: [LocalSection] = []
  /// The mids of the agreed bundle, the one that names the transport first.
  var bundle: [String] = []
  /// The offer that gave way to the remote side's. A peer that gave way as well still answers it.
  var rolledBack: Offer?
  /// The kinds that the remote side refused or stopped, each with whether we had something to send then.
  var refusedWhenSending: [MediaKind: Bool] = [:]
  var wantsICERestart = false
  private var version: UInt64 = 0
  private var generator: any RandomNumberGenerator & Sendable

  /// - Parameters:
  ///   - isPolite: compare the two participants' ids, so that both sides decide alike.
  ///   - generator: makes the credentials of ICE restarts; must be unpredictable outside tests.
  package init(
    local: LocalDescription, isPolite: Bool,
    generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    self.local = local
    self.isPolite = isPolite
    self.generator = generator
  }

  /// Whether an offer of ours waits for its answer.
  package var isAwaitingAnswer: Bool {
    if case .haveLocalOffer = state { true } else { false }
  }

  /// The ICE credentials by which the remote side may now call us: those of a waiting offer, else the agreed ones.
  package var currentCredentials: ICECredentials {
    if case .haveLocalOffer(let offer) = state { offer.credentials } else { local.credentials }
  }

  /// Names one more candidate in later offers and answers; one named already is not named twice.
  /// - Parameter candidate: `candidate:…`, with or without `a=` before it.
  package mutating func addLocalCandidate(_ candidate: String) {
    local.addCandidate(candidate)
  }

  /// Begins or ends sending a kind of media. It reaches the remote side with the next offer or answer.
  package mutating func setSending(_ isSent: Bool, of kind: MediaKind) {
    local[kind].isSent = isSent
  }

  /// Makes the next offer begin ICE again, with new credentials (RFC 8839, 4.4.1.1.1).
  package mutating func restartICE() {
    wantsICERestart = true
  }

  /// Whether an offer of ours would change anything: nothing was exchanged yet, there is more or less to send than last
  /// said, or ICE is to start again.
  package var needsOffer: Bool {
    if isAwaitingAnswer { return false }
    if session == nil || wantsICERestart { return true }
    return MediaKind.allCases.contains { kind in
      let isSent = local[kind].isSent
      if let media = sections.lazy.compactMap(\.media).first(where: { $0.codec.kind == kind }) {
        return media.wantsToSend != isSent
      }
      return isSent && mayAdd(kind)
    }
  }

  /// Writes a description in the next version.
  mutating func write(
    _ sections: [LocalSection], bundle: [String], credentials: ICECredentials, setup: SetupRole
  ) -> String {
    version &+= 1
    let writer = DescriptionWriter(
      local: local, credentials: credentials, version: version, setup: setup, bundle: bundle)
    return writer.write(sections)
  }

  mutating func newCredentials() -> ICECredentials {
    ICECredentials.random(using: &generator)
  }

  /// The DTLS role in an association that continues: as long as the other side's certificate is the same, so are the
  /// association and its roles (RFC 8842, 5.5). Firefox 153 names another role after an ICE restart, but does not take
  /// it.
  static func keptRole(of previous: NegotiatedSession?, for choice: SectionSelection) -> DTLSRole? {
    guard let previous, !Set(previous.remoteFingerprints).isDisjoint(with: choice.fingerprints) else { return nil }
    return previous.dtlsRole
  }

  /// Whether a description is our own, come back to us. Its `o=` line does not tell: GStreamer answers with the offer's session id.
  func isOurs(_ description: RemoteDescription) -> Bool {
    let fragments = [local.credentials.usernameFragment, currentCredentials.usernameFragment]
    return description.sections.contains { section in
      guard let fragment = section.transport.usernameFragment, fragments.contains(fragment) else { return false }
      return section.transport.fingerprints.contains { Fingerprint(parsing: $0) == local.fingerprint.attribute }
    }
  }
}
