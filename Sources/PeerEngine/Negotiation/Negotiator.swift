package import ICE
package import Media
internal import SDP

/// The offers and answers exchanged with one remote peer (RFC 3264, RFC 8829): a state machine that parses and writes SDP.
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
/// An unusable description changes nothing. Each of our sections keeps its m-line index permanently, because the index is
/// its identity (RFC 3264, 8).
///
/// Left out on purpose: provisional answers (`pranswer`), codecs that ``Codec`` does not list, sending simulcast, encrypted header extensions, a separate transport for a section outside the bundle: such a section is
/// refused. SkyRTC clients and browsers use none of these, or work without them.
package struct Negotiator: Sendable {
  /// Our offer that awaits its answer.
  struct Offer: Sendable {
    var sections: [LocalSection]
    var bundle: [String]
    var credentials: ICECredentials
    /// The session when the offer was written.
    var previous: NegotiatedSession?
  }

  enum State: Sendable {
    case stable
    case haveLocalOffer(Offer)
  }

  /// Our side of the session. Its credentials are those of the last completed exchange.
  package internal(set) var local: LocalDescription
  /// The result of the last completed exchange; nil before the first.
  package internal(set) var session: NegotiatedSession?
  /// Whether we give way when both sides offer at once. Exactly one of the two sides must be polite.
  package let isPolite: Bool

  var state = State.stable
  /// Our sections as last negotiated.
  var sections: [LocalSection] = []
  /// The mids of the negotiated bundle, beginning with the one that describes the transport.
  var bundle: [String] = []
  /// Our offer that was rolled back for the remote side's. A peer that rolled back as well still answers it.
  var rolledBack: Offer?
  /// The numbers of the remote side's streams.
  var numbering = StreamNumbering()
  /// The tracks of ours whose section the remote side refused or stopped, each with whether we had media to send then.
  var refusedWhenSending: [LocalDescription.Key: Bool] = [:]
  /// The tracks that we do not send, because the remote side does not accept our source's codec: their sections only receive.
  var receivedOnly: Set<LocalDescription.Key> = []
  /// Whether the remote side refused or ended the data channels.
  var isDataRefused = false
  var wantsICERestart = false
  private var version: UInt64 = 0
  var generator: any RandomNumberGenerator & Sendable

  /// - Parameters:
  ///   - isPolite: must be decided by comparing the two participants' ids, so that both sides decide consistently.
  ///   - generator: generates the credentials of ICE restarts; must be unpredictable outside tests.
  package init(
    local: LocalDescription, isPolite: Bool,
    generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    self.local = local
    self.isPolite = isPolite
    self.generator = generator
  }

  /// Whether our offer awaits its answer.
  package var isAwaitingAnswer: Bool {
    if case .haveLocalOffer = state { true } else { false }
  }

  /// The ICE credentials that the remote side may use in checks now: those of an unanswered offer, else the negotiated
  /// ones.
  package var currentCredentials: ICECredentials {
    if case .haveLocalOffer(let offer) = state { offer.credentials } else { local.credentials }
  }

  /// The ICE credentials of an offer that may still be answered, also one that was rolled back; nil if they are the negotiated
  /// ones.
  package var offeredCredentials: ICECredentials? {
    let offered = if case .haveLocalOffer(let offer) = state { offer.credentials } else { rolledBack?.credentials }
    return offered == local.credentials ? nil : offered
  }

  /// Adds a candidate to later offers and answers, unless it is known.
  ///
  /// - Parameter candidate: `candidate:…`, with or without `a=`.
  package mutating func addLocalCandidate(_ candidate: String) {
    local.addCandidate(candidate)
  }

  /// Leaves a candidate out of further descriptions.
  package mutating func removeLocalCandidate(_ candidate: String) {
    local.removeCandidate(candidate)
  }

  /// Starts or stops sending a kind of media in one of our streams. The next offer or answer tells the remote side.
  package mutating func setSending(_ isSent: Bool, of kind: MediaKind, stream: Int = 1) {
    let key = LocalDescription.Key(stream: stream, kind: kind)
    var track = local.track(key, using: &generator)
    track.isSent = isSent
    local[key] = track
  }

  /// Makes the next offer restart ICE with new credentials (RFC 8839, 4.4.1.1.1).
  package mutating func restartICE() {
    wantsICERestart = true
  }

  /// Whether an offer of ours would change anything: nothing was exchanged yet, there is more or less media to send than
  /// last described, or an ICE restart is requested.
  package var needsOffer: Bool {
    if isAwaitingAnswer { return false }
    if session == nil || wantsICERestart || mayAddData { return true }
    return local.keys.contains { key in
      let isSent = local[key]?.isSent ?? false
      if let media = sections.lazy.compactMap(\.media).first(where: { $0.key == key }) {
        return media.wantsToSend != isSent
      }
      return isSent && mayAdd(key)
    }
  }

  /// Writes a description with the next version.
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

  /// Returns the DTLS role in an association that continues: as long as the other side's certificate is the same, so are
  /// the association and its roles (RFC 8842, 5.5). After an ICE restart, Firefox 153 writes another role into its SDP but
  /// keeps the old one.
  static func keptRole(of previous: NegotiatedSession?, for choice: SectionSelection) -> DTLSRole? {
    guard let previous, !Set(previous.remoteFingerprints).isDisjoint(with: choice.fingerprints) else { return nil }
    return previous.dtlsRole
  }

  /// Returns whether a description is our own, sent back to us. Its `o=` line cannot be used for this: GStreamer answers
  /// with the offer's session id.
  func isOurs(_ description: RemoteDescription) -> Bool {
    let fragments = [local.credentials.usernameFragment, currentCredentials.usernameFragment]
    return description.sections.contains { section in
      guard let fragment = section.transport.usernameFragment, fragments.contains(fragment) else { return false }
      return section.transport.fingerprints.contains { Fingerprint(parsing: $0) == local.fingerprint.attribute }
    }
  }
}
