internal import ICE
internal import SDP

/// The ICE and DTLS attributes of a transport, from a section or from the session level.
struct RemoteTransport: Sendable, Hashable {
  var usernameFragment: String?
  var password: String?
  /// The values of the `a=fingerprint` attributes.
  var fingerprints: [String]
  var setup: SetupRole?
  /// The values of the `a=candidate` attributes of component 1, each `candidate:…`.
  var candidates: [String]
  /// Whether RTP and RTCP share the transport (RFC 5761).
  var isMultiplexed: Bool

  /// Far more than any program sends; it bounds the work that a hostile description causes.
  private static let maximumCandidates = 100

  init(_ lines: some AttributeLines) {
    usernameFragment = lines.attribute("ice-ufrag")?.trimmed
    password = lines.attribute("ice-pwd")?.trimmed
    fingerprints = Array(lines.attributes("fingerprint").prefix(16))
    setup = lines.attribute("setup").flatMap { SetupRole(rawValue: $0.trimmed.lowercased()) }
    candidates = lines.attributes("candidate").filter(Self.isFirstComponent).prefix(Self.maximumCandidates)
      .map { "candidate:\($0.trimmed)" }
    isMultiplexed = lines.hasAttribute("rtcp-mux")
  }

  /// Returns whether a candidate is for RTP; with rtcp-mux there are no others (RFC 8839, 5.1).
  private static func isFirstComponent(_ candidate: String) -> Bool {
    candidate.fields(maximum: 3).dropFirst().first == "1"
  }

  /// Returns the same attributes with missing ones taken from another description of this transport: a section of the same
  /// bundle, or the session level. ICE credentials are taken as a pair, and candidates only if they have the same
  /// credentials.
  func completed(by other: RemoteTransport) -> RemoteTransport {
    var whole = self
    if usernameFragment == nil && password == nil {
      whole.usernameFragment = other.usernameFragment
      whole.password = other.password
    }
    if fingerprints.isEmpty { whole.fingerprints = other.fingerprints }
    if setup == nil { whole.setup = other.setup }
    let isSame = other.usernameFragment == nil || other.usernameFragment == whole.usernameFragment
    if candidates.isEmpty && isSame { whole.candidates = other.candidates }
    whole.isMultiplexed = isMultiplexed || other.isMultiplexed
    return whole
  }

  /// Returns the credentials, checking their length and characters as libwebrtc does (RFC 8839, 5.4, and four more
  /// characters).
  func credentials() throws(NegotiationError) -> ICECredentials {
    guard let usernameFragment, let password else { throw .noICECredentials }
    let lengths = (usernameFragment.utf8.count, password.utf8.count)
    guard (4...256).contains(lengths.0), (22...256).contains(lengths.1) else {
      throw .badICECredentials(usernameFragmentLength: lengths.0, passwordLength: lengths.1)
    }
    guard (usernameFragment + password).utf8.allSatisfy(ICECredentials.isLegacyICECharacter) else {
      throw .badICECharacters
    }
    return ICECredentials(usernameFragment: usernameFragment, password: password)
  }

  /// Returns the fingerprints that can be checked: those with SHA-2, or with SHA-1 if there are no others (RFC 8122, 5).
  func certificateFingerprints() throws(NegotiationError) -> [CertificateFingerprint] {
    guard !fingerprints.isEmpty else { throw .noFingerprint }
    let readable = fingerprints.compactMap { Fingerprint(parsing: $0) }
    let strong = readable.filter { ["sha-224", "sha-256", "sha-384", "sha-512"].contains($0.algorithm) }
    let usable = strong.isEmpty ? readable.filter { $0.algorithm == "sha-1" } : strong
    guard !usable.isEmpty else {
      throw .noUsableFingerprint(given: fingerprints.map { String($0.prefix(20)) })
    }
    return usable.map { CertificateFingerprint($0) }
  }
}
