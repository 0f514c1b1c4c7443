/// The coding of a track that a worker encodes, or writes into a container. The raw values are those of the messages.
package enum TrackCodec: UInt8, Sendable, Hashable, CaseIterable {
  case h264 = 1
  case vp8 = 2
  case vp9 = 3
  case av1 = 4
  case aac = 20
  case opus = 21
  /// G.711 and G.722 as they are.
  case pcmu = 22
  case pcma = 23
  case g722 = 24
  /// 16-bit samples, little-endian.
  case pcm = 25
  /// Subtitles: text in UTF-8. The container decides about the coding.
  case text = 40

  package enum Kind: Sendable, Hashable {
    case video, audio, text
  }

  package var kind: Kind {
    switch self {
    case .h264, .vp8, .vp9, .av1: .video
    case .aac, .opus, .pcmu, .pcma, .g722, .pcm: .audio
    case .text: .text
    }
  }

  /// How long a decoder must run before what it returns is right, after a seek, in milliseconds.
  package var preroll: Int {
    switch self {
    case .opus: 80
    case .h264, .vp8, .vp9, .av1, .aac, .pcmu, .pcma, .g722, .pcm, .text: 0
    }
  }

  /// The usual name.
  package var title: String {
    switch self {
    case .h264: "H.264"
    case .vp8: "VP8"
    case .vp9: "VP9"
    case .av1: "AV1"
    case .aac: "AAC"
    case .opus: "Opus"
    case .pcmu: "PCMU"
    case .pcma: "PCMA"
    case .g722: "G.722"
    case .pcm: "PCM"
    case .text: "text"
    }
  }

  /// Whether decoders need parameter sets, which containers state.
  package var hasParameterSets: Bool {
    switch self {
    case .h264: true
    case .vp8, .vp9, .av1, .aac, .opus, .pcmu, .pcma, .g722, .pcm, .text: false
    }
  }

  /// Whether a packet says how many samples it has.
  package var hasTicksInPackets: Bool {
    switch self {
    case .opus: true
    case .h264, .vp8, .vp9, .av1, .aac, .pcmu, .pcma, .g722, .pcm, .text: false
    }
  }

  /// FFmpeg's name of the codec, as in ``FileDescription/Track/codec``; nil for text, whose coding depends on the container.
  package var name: String? {
    switch self {
    case .h264: "h264"
    case .vp8: "vp8"
    case .vp9: "vp9"
    case .av1: "av1"
    case .aac: "aac"
    case .opus: "opus"
    case .pcmu: "pcm_mulaw"
    case .pcma: "pcm_alaw"
    case .g722: "adpcm_g722"
    case .pcm: "pcm_s16le"
    case .text: nil
    }
  }

  /// Nil for another codec.
  package init?(name: String) {
    guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = found
  }
}
