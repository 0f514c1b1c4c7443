package import ICE
package import Media

/// The result of one exchange of offer and answer: everything that transport and media need from the SDP.
package struct NegotiatedSession: Sendable, Hashable {
  /// The remote side's ICE user fragment and password (RFC 8839, 5.4).
  package var remoteUsernameFragment: String
  package var remotePassword: String
  /// Whether the remote side is an ICE lite agent (RFC 8839, 5.3).
  package var remoteIsLite: Bool
  /// The values of the SDP's `a=candidate` attributes for component 1, for example `candidate:1 1 udp 2122 10.0.0.1 5000
  /// typ host`.
  package var remoteCandidates: [String]
  /// The remote side's certificate fingerprints; any one of them may match (RFC 8122, 5).
  package var remoteFingerprints: [CertificateFingerprint]
  /// Our role in the DTLS handshake (RFC 8842, 5).
  package var dtlsRole: DTLSRole
  /// The accepted media sections, in m-line order.
  package var media: [NegotiatedMedia]
  /// The accepted data channels; nil if there are none.
  package var data: NegotiatedData?
  /// Our own ICE credentials from this exchange on: those in the description that we sent.
  package var localCredentials: ICECredentials
  /// Whether ICE restarts (RFC 8445, 9): either side's credentials differ from those of the previous session.
  package var isICERestart: Bool
  /// The sections that are not used, in m-line order: those of the remote side's offer that we rejected, or those of our
  /// offer that it rejected.
  package var rejected: [RejectedSection] = []
  /// The codecs of ours that the remote side does not accept in sections in which we would send them.
  package var unacceptedCodecs: Set<Codec> = []

  package init(
    remoteUsernameFragment: String, remotePassword: String, remoteIsLite: Bool = false,
    remoteCandidates: [String] = [], remoteFingerprints: [CertificateFingerprint], dtlsRole: DTLSRole,
    media: [NegotiatedMedia], data: NegotiatedData? = nil, localCredentials: ICECredentials, isICERestart: Bool = false
  ) {
    self.remoteUsernameFragment = remoteUsernameFragment
    self.remotePassword = remotePassword
    self.remoteIsLite = remoteIsLite
    self.remoteCandidates = remoteCandidates
    self.remoteFingerprints = remoteFingerprints
    self.dtlsRole = dtlsRole
    self.media = media
    self.data = data
    self.localCredentials = localCredentials
    self.isICERestart = isICERestart
  }
}

/// One track that the remote side may send, with the media section that both sides accepted: a section has several with Plan B only.
package struct NegotiatedMedia: Sendable, Hashable {
  /// The index of its section's m-line, from 0.
  package var index: Int
  /// The position of the track among those of its section, from 0. Media of ours is sent with the first.
  package var ordinal = 0
  /// The value of `a=mid`, if the remote side sent one (RFC 5888).
  package var mid: String?
  /// The number of the participant's stream that the track belongs to, from 1.
  package var stream = 1
  /// The number of our stream whose track is sent in the section, from 1.
  package var localStream = 1
  /// The id of the participant's stream in `a=msid` (RFC 8830), and what it shows (`a=content`, RFC 4796), as written.
  package var streamID: String?
  package var content: String?
  /// The preferred format.
  package var format: MediaFormat
  /// Whether we send in this section, and whether the remote side may.
  package var sends: Bool
  package var receives: Bool

  /// The formats that may be used as well, in the order of preference. The payload type of each packet tells its format. Several may
  /// have one codec, in different profiles.
  package var alternatives: [MediaFormat] = []
  /// The payload type of packets that repeat earlier frames (RED, RFC 2198), if they may arrive. The blocks in such a packet have the
  /// payload type of ``redundantFormat``.
  package var redundancyPayloadType: UInt8?
  /// The payload type of the format that RED repeats.
  package var redundantPayloadType: UInt8?
  package var extensions: Extensions

  /// The sources that the remote SDP announces with `a=ssrc`, each with its RTX source from `a=ssrc-group:FID`. Empty when
  /// none are announced: then mid, rid and payload type identify them.
  package var remoteSources: [RemoteSource]
  /// The rids of the simulcast streams that we agreed to receive (RFC 8853); empty without simulcast.
  package var remoteStreamIDs: [String]

  /// Our own SSRCs; unchanged by renegotiations.
  package var localSSRC: UInt32
  package var localRetransmissionSSRC: UInt32?

  package var kind: MediaKind { codec.kind }

  /// Names the track among those of the connection.
  package var trackKey: Int { index &* 256 &+ ordinal }

  /// The codec, the payload types and the feedback of the preferred format.
  package var codec: Codec { format.codec }
  package var payloadType: UInt8 {
    get { format.payloadType }
    set { format.payloadType = newValue }
  }
  package var retransmissionPayloadType: UInt8? {
    get { format.retransmissionPayloadType }
    set { format.retransmissionPayloadType = newValue }
  }
  package var feedback: Feedback {
    get { format.feedback }
    set { format.feedback = newValue }
  }

  /// The format of the blocks in packets with ``redundancyPayloadType``.
  package var redundantFormat: MediaFormat? {
    redundancyPayloadType == nil ? nil : redundantPayloadType.flatMap { format(of: $0) } ?? format
  }

  /// Returns the format with this payload type, for media, for retransmissions or for RED.
  package func format(of payloadType: UInt8) -> MediaFormat? {
    if payloadType == format.payloadType || payloadType == format.retransmissionPayloadType { return format }
    if let other = alternatives.first(where: {
      $0.payloadType == payloadType || $0.retransmissionPayloadType == payloadType
    }) {
      return other
    }
    return payloadType == redundancyPayloadType ? redundantFormat : nil
  }

  /// Returns the format of a codec.
  package func format(of codec: Codec) -> MediaFormat? {
    codec == format.codec ? format : alternatives.first { $0.codec == codec }
  }

  /// Returns the format of a codec and a profile; nil for a codec without profiles.
  package func format(of codec: Codec, profile: String?) -> MediaFormat? {
    ([format] + alternatives).first { $0.codec == codec && $0.profile == profile }
  }

  package init(
    index: Int, mid: String? = nil, codec: Codec, sends: Bool, receives: Bool, payloadType: UInt8,
    retransmissionPayloadType: UInt8? = nil, feedback: Feedback = Feedback(), extensions: Extensions = Extensions(),
    remoteSources: [RemoteSource] = [], remoteStreamIDs: [String] = [], localSSRC: UInt32,
    localRetransmissionSSRC: UInt32? = nil
  ) {
    self.init(
      index: index, mid: mid,
      format: MediaFormat(
        codec: codec, payloadType: payloadType, retransmissionPayloadType: retransmissionPayloadType,
        feedback: feedback),
      sends: sends, receives: receives, extensions: extensions, remoteSources: remoteSources,
      remoteStreamIDs: remoteStreamIDs, localSSRC: localSSRC, localRetransmissionSSRC: localRetransmissionSSRC)
  }

  package init(
    index: Int, mid: String?, format: MediaFormat, sends: Bool, receives: Bool, extensions: Extensions,
    remoteSources: [RemoteSource] = [], remoteStreamIDs: [String] = [], localSSRC: UInt32,
    localRetransmissionSSRC: UInt32? = nil
  ) {
    self.index = index
    self.mid = mid
    self.format = format
    self.sends = sends
    self.receives = receives
    self.extensions = extensions
    self.remoteSources = remoteSources
    self.remoteStreamIDs = remoteStreamIDs
    self.localSSRC = localSSRC
    self.localRetransmissionSSRC = localRetransmissionSSRC
  }

  /// The feedback that both sides agreed to for the payload type (RFC 4585, 4.2).
  package struct Feedback: Sendable, Hashable {
    package var nack = false
    package var pictureLossIndication = false
    package var fullIntraRequest = false
    package var maximumBitrateEstimate = false
    package var transportWide = false

    package init() {}
  }

  /// The ids of the negotiated header extensions (RFC 8285): 1 to 14, and 16 to 255 if both forms may be mixed.
  package struct Extensions: Sendable, Hashable {
    package var mid: UInt8?
    package var streamID: UInt8?
    package var repairedStreamID: UInt8?
    package var audioLevel: UInt8?
    package var absoluteSendTime: UInt8?
    package var transportSequenceNumber: UInt8?
    /// Which frames a frame of video depends on. Its value is longer than 16 bytes in keyframes, so two-byte headers carry it.
    package var dependencyDescriptor: UInt8?
    /// How frames of video are turned before they are shown (3GPP TS 26.114, 7.4.5).
    package var videoOrientation: UInt8?

    package init() {}
  }

  /// A stream that the remote SDP announces, with its RTX stream if it has one.
  package struct RemoteSource: Sendable, Hashable {
    package var ssrc: UInt32
    package var retransmissionSSRC: UInt32?
    package var cname: String?

    package init(ssrc: UInt32, retransmissionSSRC: UInt32? = nil, cname: String? = nil) {
      self.ssrc = ssrc
      self.retransmissionSSRC = retransmissionSSRC
      self.cname = cname
    }
  }
}

extension NegotiatedMedia.Feedback {
  /// All kinds of feedback, with the values of `a=rtcp-fb`, in Chromium's order.
  private static let names: [(name: String, position: any WritableKeyPath<Self, Bool> & Sendable)] = [
    ("goog-remb", \.maximumBitrateEstimate),
    ("transport-cc", \.transportWide),
    ("ccm fir", \.fullIntraRequest),
    ("nack", \.nack),
    ("nack pli", \.pictureLossIndication),
  ]

  /// Returns the feedback that we support for a codec.
  static func all(for codec: Codec) -> Self { Self(parsing: codec.properties.feedback) }

  /// Parses the values of `a=rtcp-fb` attributes (RFC 4585, 4.2); unknown ones are skipped.
  init(parsing values: [String]) {
    self.init()
    for (name, position) in Self.names where values.contains(name) {
      self[keyPath: position] = true
    }
  }

  /// Returns the feedback that both sides support.
  func intersection(_ other: Self) -> Self {
    var both = Self()
    for (_, position) in Self.names {
      both[keyPath: position] = self[keyPath: position] && other[keyPath: position]
    }
    return both
  }

  /// The values of the `a=rtcp-fb` attributes.
  var values: [String] {
    Self.names.filter { self[keyPath: $0.position] }.map(\.name)
  }
}
