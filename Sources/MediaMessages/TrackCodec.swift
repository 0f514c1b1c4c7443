/// The coding of a track that a worker encodes, or writes into a container. The raw values are those of the messages. What differs between
/// codecs is a row of the table in this file.
package enum TrackCodec: UInt8, Sendable, Hashable, CaseIterable {
  case h264 = 1
  case vp8 = 2
  case vp9 = 3
  case av1 = 4
  case h265 = 5
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

  /// What encodes a codec, for those that a worker encodes.
  package enum Encoder: Sendable, Hashable {
    case h264, vp8, vp9, av1, aac, opus
  }

  /// A row of the table.
  private struct Row {
    var kind: Kind
    var title: String
    var name: String?
    var containers: [ContainerFormat]
    var encoder: Encoder?
    var preroll = 0
    var hasParameterSets = false
    var isoTag: String?
    var hasTicksInPackets = false
  }

  private var row: Row {
    switch self {
    case .h264:
      Row(
        kind: .video, title: "H.264", name: "h264", containers: [.mp4, .mov, .mkv], encoder: .h264,
        hasParameterSets: true)
    case .vp8: Row(kind: .video, title: "VP8", name: "vp8", containers: [.webm, .mkv], encoder: .vp8)
    case .vp9: Row(kind: .video, title: "VP9", name: "vp9", containers: [.mp4, .webm, .mkv], encoder: .vp9)
    case .av1: Row(kind: .video, title: "AV1", name: "av1", containers: [.mp4, .webm, .mkv], encoder: .av1)
    case .h265:
      Row(
        kind: .video, title: "H.265", name: "hevc", containers: [.mp4, .mov, .mkv], hasParameterSets: true,
        isoTag: "hvc1")
    case .aac: Row(kind: .audio, title: "AAC", name: "aac", containers: [.mp4, .mov, .mkv, .m4a], encoder: .aac)
    case .opus:
      Row(
        kind: .audio, title: "Opus", name: "opus", containers: [.mp4, .webm, .mkv, .ogg], encoder: .opus, preroll: 80,
        hasTicksInPackets: true)
    case .pcmu: Row(kind: .audio, title: "PCMU", name: "pcm_mulaw", containers: [.mov, .mkv])
    case .pcma: Row(kind: .audio, title: "PCMA", name: "pcm_alaw", containers: [.mov, .mkv])
    case .g722: Row(kind: .audio, title: "G.722", name: "adpcm_g722", containers: [.mkv])
    case .pcm: Row(kind: .audio, title: "PCM", name: "pcm_s16le", containers: [.mov, .mkv, .wav])
    case .text: Row(kind: .text, title: "text", containers: [.mp4, .mov, .webm, .mkv, .m4a])
    }
  }

  package var kind: Kind { row.kind }

  /// How long a decoder must run before what it returns is right, after a seek, in milliseconds.
  package var preroll: Int { row.preroll }

  /// The usual name.
  package var title: String { row.title }

  /// What encodes it; nil for a codec that is only copied.
  package var encoder: Encoder? { row.encoder }

  /// The containers that hold it.
  package var containers: [ContainerFormat] { row.containers }

  /// Whether decoders need parameter sets, which containers state.
  package var hasParameterSets: Bool { row.hasParameterSets }

  /// The type of its sample entry in MP4 and QuickTime files, four characters of ASCII; nil for that which FFmpeg chooses.
  package var isoTag: String? { row.isoTag }

  /// Whether a packet says how many samples it has.
  package var hasTicksInPackets: Bool { row.hasTicksInPackets }

  /// FFmpeg's name of the codec, as in ``FileDescription/Track/codec``; nil for text, whose coding depends on the container.
  package var name: String? { row.name }

  /// Nil for another codec.
  package init?(name: String) {
    guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = found
  }
}
