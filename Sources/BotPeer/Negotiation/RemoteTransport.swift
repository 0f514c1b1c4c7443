internal import ICE
internal import SDP

/// What a description says of a transport: ICE and DTLS. Said in a section, or once for all before the sections.
struct RemoteTransport: Sendable, Hashable {
  var usernameFragment: String?
  var password: String?
  /// The values of the `a=fingerprint` lines.
  var fingerprints: [String]
  var setup: SetupRole?
  /// The values of the `a=candidate` lines of component 1, each `candidate:…`.
  var candidates: [String]

  /// Far above what any program names; it bounds what a hostile description makes us do.
  private static let maximumCandidates = 100

  init(_ lines: some AttributeLines) {
    usernameFragment = lines.attribute("ice-ufrag")?.trimmed
    password = lines.attribute("ice-pwd")?.trimmed
    fingerprints = Array(lines.attributes("fingerprint").prefix(16))
    setup = lines.attribute("setup").flatMap { SetupRole(rawValue: $0.trimmed.lowercased()) }
    candidates = lines.attributes("candidate").filter(Self.isFirstComponent).prefix(Self.maximumCandidates)
      .map { "candidate:\($0.trimmed)" }
  }

  /// Whether a candidate is one for RTP; with rtcp-mux there are no others (RFC 8839, 5.1).
  private static func isFirstComponent(_ candidate: String) -> Bool {
    candidate.fields(maximum: 3).dropFirst().first == "1"
  }

  /// The same with what is missing taken from the session's own lines. ICE credentials are taken as a pair.
  func completed(by session: RemoteTransport) -> RemoteTransport {
    var whole = self
    if usernameFragment == nil && password == nil {
      whole.usernameFragment = session.usernameFragment
      whole.password = session.password
    }
    if fingerprints.isEmpty { whole.fingerprints = session.fingerprints }
    if setup == nil { whole.setup = session.setup }
    if candidates.isEmpty { whole.candidates = session.candidates }
    return whole
  }

  /// The credentials, if they are of allowed length (RFC 8839, 5.4).
  func credentials() throws(NegotiationError) -> ICECredentials {
    guard let usernameFragment, let password else { throw .noICECredentials }
    let lengths = (usernameFragment.utf8.count, password.utf8.count)
    guard (4...256).contains(lengths.0), (22...256).contains(lengths.1) else {
      throw .badICECredentials(usernameFragmentLength: lengths.0, passwordLength: lengths.1)
    }
    return ICECredentials(usernameFragment: usernameFragment, password: password)
  }

  /// The fingerprints that can be checked: those by SHA-2, or by SHA-1 where there is nothing better (RFC 8122, 5).
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
