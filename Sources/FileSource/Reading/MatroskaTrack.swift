import CWebM
import Glibc
import Media
import NIOCore

/// A track as described by the header of a WebM or Matroska file.
struct MatroskaTrack: Hashable {
  /// The track number; 0 if the file does not state it.
  var number: UInt64
  /// nil for subtitles and other kinds, and if the file does not state it.
  var kind: MediaKind?
  /// For example `V_VP8`; empty if the file's text cannot be a codec's name.
  var codecID: String
  var codecPrivate: [UInt8]
  /// The interval between frames in nanoseconds; 0 if the file does not state it.
  var frameInterval: UInt64
  /// The codec delay in nanoseconds.
  var codecDelay: UInt64
  var channels: Int
  /// How the frames of video are turned before they are shown.
  var orientation: VideoOrientation
  var isEnabled: Bool
  var isCompressed: Bool
  var isEncrypted: Bool

  init(_ track: cwebm_track) {
    number = track.number
    kind = [1: .video, 2: .audio][track.type]
    codecID = Self.codecID(track.codec_id)
    codecPrivate = Array(UnsafeBufferPointer(start: track.codec_private, count: track.codec_private_size))
    frameInterval = track.default_duration
    codecDelay = track.codec_delay
    channels = Int(clamping: track.channels)
    orientation = Self.orientation(roll: track.pose_roll, yaw: track.pose_yaw)
    isEnabled = track.is_enabled
    isCompressed = track.is_compressed
    isEncrypted = track.is_encrypted
  }

  /// Returns what a rectangular projection says (RFC 9559, 5.1.4.1.28.41): players mirror frames by a yaw of 180°, then turn them
  /// counter-clockwise by the roll. Other angles are left out.
  private static func orientation(roll: Double, yaw: Double) -> VideoOrientation {
    guard abs(roll) <= 360, roll == roll.rounded() else { return .upright }
    let isMirrored = abs(yaw) == 180
    let clockwise = ((isMirrored ? Int(roll) : -Int(roll)) + 720) % 360
    return VideoOrientation(rotation: clockwise, isMirrored: isMirrored) ?? .upright
  }

  /// Longer than any codec's name.
  private static let maximumCodecID = 64

  /// A codec's name is short and ASCII. Other bytes are not converted to text: comparing it could take minutes.
  private static func codecID(_ text: UnsafePointer<CChar>) -> String {
    let bytes = UnsafeRawBufferPointer(start: text, count: strnlen(text, maximumCodecID + 1))
    guard bytes.count <= maximumCodecID, !bytes.hasRunOutsideASCII(over: 0) else { return "" }
    return String(decoding: bytes, as: UTF8.self)
  }

  var codec: Codec? { Codec(matroska: codecID, codecPrivate: ByteBuffer(bytes: codecPrivate)) }

  /// What the file says of an Opus track before its first packet; nil for other codecs and without that.
  var opusHead: OpusHead? {
    codecID == "A_OPUS" ? OpusHead(parsing: codecPrivate) : nil
  }

  private var bitstream: (any VideoBitstream.Type)? { codec?.properties.bitstream }

  /// Converts the frames of a video track; nil if they need no conversion, and for a track without usable private data.
  var framing: (any VideoFraming)? { bitstream?.framing(codecPrivate: codecPrivate) }

  /// The usual name of the codec.
  var codecName: String {
    if let codec { return codec.name }
    return switch codecID {
    case "V_THEORA": "Theora"
    case "V_UNCOMPRESSED": "uncompressed"
    case "A_VORBIS": "Vorbis"
    case "A_FLAC": "FLAC"
    case "A_AC3": "AC-3"
    case "A_EAC3": "E-AC-3"
    case "A_MPEG/L3": "MP3"
    case _ where codecID.hasPrefix("A_AAC"): "AAC"
    case _ where codecID.hasPrefix("A_PCM"): "PCM"
    case "A_MS/ACM":
      WaveFormat(parsing: ByteBuffer(bytes: codecPrivate)).map { "audio of the WAVE format \($0.tag)" } ?? "A_MS/ACM"
    case "": "of a codec that the file does not name"
    default: codecID.prefix(40).filter { $0.isASCII && ($0.isLetter || $0.isNumber || "_/.-".contains($0)) }
    }
  }

  /// Refuses a track that its header shows to be unplayable.
  func refuseWhatCannotBePlayed() throws(MediaFile.ReadError) {
    guard number > 0 else { throw .unsupported("its \(codecName) track has no number") }
    if isEncrypted { throw .unsupported("its \(codecName) track is encrypted") }
    if isCompressed { throw .unsupported("its \(codecName) track is compressed (ContentEncodings)") }
    if bitstream?.needsCodecPrivate ?? false, framing == nil {
      throw .unsupported("its \(codecName) track has no parameter sets (CodecPrivate)")
    }
    guard kind == .audio else { return }
    let isMono = codec?.waveFormatTag != nil
    if isMono, channels > 1 {
      throw .unsupported("its \(codecName) has \(channels) channels, and a call carries one")
    }
    if let opusHead {
      try opusHead.refuseMoreThanStereo()
    } else if channels > 2 {
      throw .unsupported("its audio has \(channels) channels, and a call carries one or two")
    }
  }
}
