/// The codecs that a worker decodes. The raw values are those of the messages.
package enum MediaCodec: UInt8, Sendable, Hashable, CaseIterable {
  case h264 = 1
  case g722 = 2
  case vp8 = 3
  case vp9 = 4
  case av1 = 5
  case h265 = 6

  /// What decodes it.
  package enum Decoder: Sendable, Hashable {
    case libvpx(isVP9: Bool)
    /// A decoder of FFmpeg of this name: a list of those that may run, and no search in all that it has.
    ///
    /// - extradata: what the decoder needs before the first frame.
    case ffmpeg(String, extradata: [UInt8] = [])
  }

  package var decoder: Decoder {
    switch self {
    case .h264: .ffmpeg("h264", extradata: Self.avcC)
    case .g722: .ffmpeg("g722")
    case .vp8: .libvpx(isVP9: false)
    case .vp9: .libvpx(isVP9: true)
    case .av1: .ffmpeg("libdav1d")
    case .h265: .ffmpeg("hevc", extradata: Self.hvcC)
    }
  }

  package var isVideo: Bool {
    switch self {
    case .h264, .vp8, .vp9, .av1, .h265: true
    case .g722: false
    }
  }

  /// Finds a codec by its name in the main program; nil for one that a worker does not decode.
  package init?(name: String) {
    let names: [String: MediaCodec] = [
      "h264": .h264, "g722": .g722, "vp8": .vp8, "vp9": .vp9, "av1": .av1, "h265": .h265,
    ]
    guard let codec = names[name] else { return nil }
    self = codec
  }

  /// An `avcC` without parameter sets, which come with each keyframe: NAL units follow their lengths in 4 bytes.
  private static let avcC: [UInt8] = [1, 66, 0, 31, 0xFF, 0xE0, 0]
  /// An `hvcC` that says the same of H.265.
  private static let hvcC: [UInt8] =
    [1, 1, 0x60, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 93, 0xF0, 0, 0xFC, 0xFD, 0xF8, 0xF8, 0, 0, 0x0F, 0]
}
