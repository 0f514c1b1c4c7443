package import Media
import NIOCore

/// A track of a file that was read through.
package struct StoredTrack: Sendable, Hashable, CustomStringConvertible {
  package let codec: StoredCodec
  /// The number of frames that are played.
  package let frames: Int
  /// The number of keyframes among them; for audio, all.
  package let keyframes: Int
  /// The longest time between two keyframes, or between the last one and the end, in units of `MediaTimebase.rate`.
  package let keyframeDistance: Int64
  /// Whether video is stored in another order than that in which it is shown (B-frames).
  package let isReordered: Bool
  /// What a keyframe says that keeps the video from being sent as stored, as a clause; nil if nothing does.
  let obstacle: String?
  /// The size of the first keyframe; nil for audio.
  package let size: VideoSize?
  /// nil for video.
  package let channels: Int?
  /// The number of frames in the file that are skipped, because they cannot be decoded or overlap earlier ones.
  package let skippedFrames: Int
  /// The start of the first frame and the end of the last one, in units of `MediaTimebase.rate` from the container's
  /// zero.
  package let start: Int64
  package let end: Int64
  /// WebM's track number, which identifies the track when the file is played.
  let number: UInt64
  /// What a decoder needs before the first frame.
  package let codecPrivate: [UInt8]
  /// The 48 kHz ticks that a decoder must discard at the start (RFC 7845, 4.2).
  package let preSkip: Int64

  /// For example `VP8 640x480, 300 frames in 10.00 s` or `Opus mono, 500 packets in 10.00 s`.
  package var description: String {
    let length = MediaTimebase.text(end - start)
    return switch codec.kind {
    case .video: "\(codec.name) \(size.map(\.description) ?? "of unknown size"), \(frames) frames in \(length) s"
    case .audio: "\(codec.name) \(channels == 2 ? "stereo" : "mono"), \(frames) packets in \(length) s"
    }
  }
}

/// The codecs that files can contain and this program can play, as stored or decoded.
package enum StoredCodec: Sendable, Hashable, CaseIterable {
  /// A codec that a call carries, so that its frames can be played as stored.
  case call(Codec)
  case vorbis

  package static let allCases: [StoredCodec] = Codec.allCases.map(StoredCodec.call) + [.vorbis]

  /// The codecs that a call carries.
  package static let callCodecs = Set(Codec.allCases.map(StoredCodec.call))

  /// The codecs that are decoded without another program.
  package static let decodedHere = Set(
    Codec.allCases.filter { !$0.needsWorker }.map(StoredCodec.call) + [.vorbis])

  package var kind: MediaKind {
    switch self {
    case .call(let codec): codec.kind
    case .vorbis: .audio
    }
  }

  /// The codec of a call; nil if a call does not carry it.
  package var callCodec: Codec? {
    switch self {
    case .call(let codec): codec
    case .vorbis: nil
    }
  }

  /// Whether frames may be stored in another order than that in which they are shown.
  var canReorder: Bool { callCodec?.canReorderFrames ?? false }

  /// The usual name.
  package var name: String {
    switch self {
    case .call(let codec): codec.properties.name
    case .vorbis: "Vorbis"
    }
  }

  /// Matroska's codec id of Vorbis.
  private static let vorbisID = "A_VORBIS"

  /// The four characters in an IVF file's header; nil if the codec is not stored in IVF.
  private var fourCC: String? {
    switch self {
    case .call(let codec): codec.properties.fourCC
    case .vorbis: nil
    }
  }

  /// Parses the header of a frame; unreadable too if the packets of a codec have no header that is read here.
  func header(of payload: ByteBuffer) -> FrameHeader {
    switch self {
    case .call(let codec): FrameHeader(parsing: payload, of: codec)
    case .vorbis: .unreadable
    }
  }

  /// Maps Matroska's codec id.
  ///
  /// - Parameter codecPrivate: the track's private data, which tells some codecs of one id apart.
  init?(matroska id: String, codecPrivate: [UInt8]) {
    if id == Self.vorbisID {
      self = .vorbis
    } else if let codec = Codec(matroska: id, codecPrivate: ByteBuffer(bytes: codecPrivate)) {
      self = .call(codec)
    } else {
      return nil
    }
  }

  /// Maps the four characters in an IVF file's header.
  init?(fourCC: String) {
    guard let codec = Self.allCases.first(where: { $0.fourCC == fourCC }) else { return nil }
    self = codec
  }

  /// Returns the usual names of the codecs of a kind, for texts.
  package static func names(of kind: MediaKind) -> String {
    allCases.filter { $0.kind == kind }.map(\.name).joined(separator: " and ")
  }
}
