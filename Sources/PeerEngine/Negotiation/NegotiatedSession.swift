package import ICE

/// What one exchange of offer and answer settled: all that transport and media need to know of the SDP.
package struct NegotiatedSession: Sendable, Hashable {
  /// The remote side's ICE user fragment and password (RFC 8839, 5.4).
  package var remoteUsernameFragment: String
  package var remotePassword: String
  /// Whether the remote side is an ICE lite agent (RFC 8839, 5.3).
  package var remoteIsLite: Bool
  /// The values of the SDP's `a=candidate` lines for component 1, for example `candidate:1 1 udp 2122 10.0.0.1 5000 typ
  /// host`.
  package var remoteCandidates: [String]
  /// The remote side's certificate fingerprints; any one of them may match (RFC 8122, 5).
  package var remoteFingerprints: [CertificateFingerprint]
  /// Which side of the DTLS handshake we are (RFC 8842, 5).
  package var dtlsRole: DTLSRole
  /// The media sections that carry media, in m-line order. Refused ones are absent.
  package var media: [NegotiatedMedia]
  /// Our own ICE credentials from this exchange on: those in the description that we sent.
  package var localCredentials: ICECredentials
  /// Whether ICE starts again (RFC 8445, 9): either side's credentials differ from those of the session before.
  package var isICERestart: Bool

  package init(
    remoteUsernameFragment: String, remotePassword: String, remoteIsLite: Bool = false,
    remoteCandidates: [String] = [], remoteFingerprints: [CertificateFingerprint], dtlsRole: DTLSRole,
    media: [NegotiatedMedia], localCredentials: ICECredentials, isICERestart: Bool = false
  ) {
    self.remoteUsernameFragment = remoteUsernameFragment
    self.remotePassword = remotePassword
    self.remoteIsLite = remoteIsLite
    self.remoteCandidates = remoteCandidates
    self.remoteFingerprints = remoteFingerprints
    self.dtlsRole = dtlsRole
    self.media = media
    self.localCredentials = localCredentials
    self.isICERestart = isICERestart
  }
}
