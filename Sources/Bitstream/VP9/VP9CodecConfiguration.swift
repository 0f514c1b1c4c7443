package import NIOCore

/// What files and descriptions say of a VP9 stream before its first frame.
package struct VP9CodecConfiguration: Sendable, Hashable {
  /// 0...3, see ``VP9FrameHeader/profile``.
  package let profile: UInt8
  /// The lowest level that has frames of the size, times ten: the bitstream does not tell the level.
  package let level: UInt8
  /// The bits of a sample: 8, 10 or 12.
  package let bitDepth: UInt8

  /// - Parameters:
  ///   - keyframe: a keyframe, or a superframe that begins with one.
  ///   - size: the size that is shown, which with spatial layers is that of the highest one; nil for the one that the frames state.
  /// - Returns: nil for anything else.
  package init?(keyframe: ByteBuffer, size: VP9FrameHeader.Size? = nil) {
    var references = VP9ReferenceSizes()
    guard let superframe = try? VP9Superframe(parsing: keyframe), let first = superframe.frames.first,
      let header = try? VP9FrameHeader(parsing: first), header.isKeyframe, let bitDepth = header.bitDepth,
      let size = size ?? superframe.output(references: &references).size
    else { return nil }
    profile = header.profile
    level = Self.level(of: size)
    self.bitDepth = bitDepth
  }

  /// The codec with profile, level and bit depth, as in the parameter `codecs` of MIME types, for example `vp09.02.10.10`.
  package var codecString: String {
    "vp09." + [profile, level, bitDepth].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ".")
  }

  /// The private data of a track in Matroska, as WebM describes it: the features profile, level, bit depth and chroma subsampling, each
  /// after its number and its length.
  package var features: ByteBuffer {
    // Colours at half the width and height (profiles 0 and 2), between two rows.
    ByteBuffer(bytes: [1, 1, profile, 2, 1, level, 3, 1, bitDepth, 4, 1, 0])
  }

  /// Returns the lowest level that has frames of this size, by their area (VP9 levels, Annex A), times ten.
  private static func level(of size: VP9FrameHeader.Size) -> UInt8 {
    let levels: [(area: Int, level: UInt8)] = [
      (36_864, 10), (73_728, 11), (122_880, 20), (245_760, 21), (552_960, 30), (983_040, 31), (2_228_224, 40),
      (8_912_896, 50),
    ]
    let area = size.width &* size.height
    return levels.first { area <= $0.area }?.level ?? 60
  }
}
