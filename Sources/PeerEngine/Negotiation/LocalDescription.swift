package import ICE
package import Media

/// Our side of the session with one remote peer: the values that our offers and answers are written from.
package struct LocalDescription: Sendable, Hashable {
  /// The session id of our `o=` line, constant as long as the peer exists (RFC 8829, 5.2.1). Below 2⁶³.
  package let sessionID: UInt64
  /// Our ICE credentials, until an ICE restart replaces them.
  package var credentials: ICECredentials
  /// The fingerprint of our certificate.
  package var fingerprint: CertificateFingerprint
  /// The candidates in our SDP, each `candidate:…` without `a=`.
  package private(set) var candidates: [String]
  /// Our canonical name, the same for both tracks, so that the receiver plays them in sync (RFC 3550, 6.5.1).
  package var cname: String
  /// The id of our media stream in `a=msid` (RFC 8830).
  package var streamID: String
  package var audio: LocalTrack
  package var video: LocalTrack
  /// The tracks of our further streams.
  private var further: [Key: LocalTrack] = [:]
  /// Whether further sections that the remote side offers are used to send as well, if the first one of their kind is.
  package var sendsInEverySection = false
  /// The codecs that may be negotiated, and those that we send.
  package var codecs = CodecPreferences()
  /// Whether the remote side may leave it to us to turn its frames.
  package var acceptsOrientation = false
  /// Our side of the data channels; nil if we use none.
  package var data: LocalData?

  /// - Parameter sessionID: the session id; its highest bit is cleared, because other stacks parse it as a signed number.
  package init(
    sessionID: UInt64, credentials: ICECredentials, fingerprint: CertificateFingerprint, candidates: [String] = [],
    cname: String, streamID: String, audio: LocalTrack, video: LocalTrack, data: LocalData? = nil
  ) {
    self.sessionID = sessionID & UInt64(Int64.max)
    self.credentials = credentials
    self.fingerprint = fingerprint
    self.candidates = []
    self.cname = cname
    self.streamID = streamID
    self.audio = audio
    self.video = video
    self.data = data
    for candidate in candidates {
      addCandidate(candidate)
    }
  }

  /// Creates a new identity for one remote peer: random credentials, names and three different SSRCs.
  ///
  /// - Parameters:
  ///   - tracks: the media that we send and receive.
  ///   - data: our side of the data channels; nil if we use none.
  ///   - generator: must be unpredictable outside tests: it generates the ICE password.
  package init(
    fingerprint: CertificateFingerprint, candidates: [String] = [], tracks: TrackSettings, data: LocalData? = nil,
    using generator: inout some RandomNumberGenerator
  ) {
    var sources: [UInt32] = []
    while sources.count < 3 {
      let source = UInt32.random(in: 1...UInt32.max, using: &generator)
      if !sources.contains(source) { sources.append(source) }
    }
    self.init(
      sessionID: generator.next(), credentials: ICECredentials.random(using: &generator), fingerprint: fingerprint,
      candidates: candidates, cname: RandomString.make(length: 16, using: &generator),
      streamID: RandomString.make(length: 24, using: &generator),
      audio: LocalTrack(
        isSent: tracks.sending.contains(.audio), isReceived: tracks.receiving.contains(.audio),
        trackID: RandomString.make(length: 24, using: &generator), ssrc: sources[0]),
      video: LocalTrack(
        isSent: tracks.sending.contains(.video), isReceived: tracks.receiving.contains(.video),
        trackID: RandomString.make(length: 24, using: &generator), ssrc: sources[1], retransmissionSSRC: sources[2]),
      data: data)
    sendsInEverySection = tracks.sendsInEverySection
    codecs = tracks.codecs
    acceptsOrientation = tracks.acceptsOrientation
    addStreams(tracks.furtherStreams, using: &generator)
  }

  /// Adds a candidate, `candidate:…` with or without `a=`, unless it is known. Other text, such as the empty text that ends
  /// trickling, is ignored.
  mutating func addCandidate(_ text: String) {
    let candidate = text.hasPrefix("a=") ? String(text.dropFirst(2)) : text
    let isOneLine = candidate.utf8.allSatisfy { $0 >= UInt8(ascii: " ") }
    if candidate.hasPrefix("candidate:"), isOneLine, !candidates.contains(candidate) { candidates.append(candidate) }
  }

  mutating func removeCandidate(_ candidate: String) {
    candidates.removeAll { $0 == candidate }
  }

  /// Names a track of ours: the number of its stream, from 1, and its kind.
  package struct Key: Sendable, Hashable {
    package var stream: Int
    package var kind: MediaKind

    package init(stream: Int = 1, kind: MediaKind) {
      self.stream = stream
      self.kind = kind
    }
  }

  /// The tracks, in the order of our offers.
  package var keys: [Key] {
    MediaKind.allCases.map { Key(kind: $0) }
      + further.keys.sorted { ($0.stream, $0.kind.rawValue) < ($1.stream, $1.kind.rawValue) }
  }

  /// A track; nil for one of a further stream that does not exist yet.
  package subscript(key: Key) -> LocalTrack? {
    get {
      guard key.stream != 1 else { return self[key.kind] }
      return further[key]
    }
    set {
      guard key.stream != 1 else { return self[key.kind] = newValue ?? self[key.kind] }
      further[key] = newValue
    }
  }

  /// Returns a track, which is created if it does not exist yet.
  mutating func track(_ key: Key, using generator: inout some RandomNumberGenerator) -> LocalTrack {
    if let known = self[key] { return known }
    let first = self[key.kind]
    var taken = Set(keys.compactMap { self[$0] }.flatMap { [$0.ssrc, $0.retransmissionSSRC ?? $0.ssrc] })
    func source() -> UInt32 {
      while true {
        let source = UInt32.random(in: 1...UInt32.max, using: &generator)
        if taken.insert(source).inserted { return source }
      }
    }
    let track = LocalTrack(
      isSent: sendsInEverySection && first.isSent, isReceived: first.isReceived,
      trackID: RandomString.make(length: 24, using: &generator), ssrc: source(),
      retransmissionSSRC: first.retransmissionSSRC == nil ? nil : source())
    further[key] = track
    return track
  }

  /// Adds the tracks of our second stream, our third, and so on.
  private mutating func addStreams(_ streams: [Set<MediaKind>], using generator: inout some RandomNumberGenerator) {
    for (position, kinds) in streams.prefix(TrackID.maximumStreams - 1).enumerated() {
      for kind in MediaKind.allCases where kinds.contains(kind) {
        let key = Key(stream: position + 2, kind: kind)
        var track = track(key, using: &generator)
        track.isSent = true
        self[key] = track
      }
    }
  }

  /// Returns the id of one of our streams in `a=msid`.
  func streamID(_ stream: Int) -> String { stream == 1 ? streamID : "\(streamID)-\(stream)" }

  subscript(kind: MediaKind) -> LocalTrack {
    get {
      switch kind {
      case .audio: audio
      case .video: video
      }
    }
    set {
      switch kind {
      case .audio: audio = newValue
      case .video: video = newValue
      }
    }
  }
}

/// Our side of one kind of media towards one remote peer.
package struct LocalTrack: Sendable, Hashable {
  /// Whether we have media to send. If not, our SDP says `recvonly` and announces no SSRC.
  package var isSent: Bool
  /// Whether we receive the remote side's media. If not, our SDP says `sendonly` or `inactive`.
  package var isReceived: Bool
  /// The track's id in `a=msid` (RFC 8830).
  package var trackID: String
  /// The SSRC of our RTP, and of our RTCP even when no media is sent.
  package var ssrc: UInt32
  /// The SSRC of our retransmissions (RFC 4588); nil if we never send any.
  package var retransmissionSSRC: UInt32?

  package init(
    isSent: Bool, isReceived: Bool = true, trackID: String, ssrc: UInt32, retransmissionSSRC: UInt32? = nil
  ) {
    self.isSent = isSent
    self.isReceived = isReceived
    self.trackID = trackID
    self.ssrc = ssrc
    self.retransmissionSSRC = retransmissionSSRC
  }
}

/// Our side of the data channels with one remote peer.
package struct LocalData: Sendable, Hashable {
  /// Whether our offers have a section for data channels. If not, we only accept one.
  package var isOffered: Bool
  /// The largest message that we accept, in bytes.
  package var maximumMessageBytes: Int

  package init(isOffered: Bool, maximumMessageBytes: Int) {
    self.isOffered = isOffered
    self.maximumMessageBytes = maximumMessageBytes
  }
}

/// Random text of letters and digits with about 6 bits a character, suitable for ICE credentials (RFC 8839, 5.4), for
/// tokens such as those of `a=msid` (RFC 8830) and for canonical names.
enum RandomString {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

  static func make(length: Int, using generator: inout some RandomNumberGenerator) -> String {
    var text = ""
    for _ in 0..<length {
      let position = Int.random(in: 0..<alphabet.count, using: &generator)
      text.unicodeScalars.append(Unicode.Scalar(alphabet[position]))
    }
    return text
  }
}
