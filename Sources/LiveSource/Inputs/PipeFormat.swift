import Codecs
import Media

/// How the frames of a pipe lie in its bytes.
struct PipeFormat: Sendable, Hashable {
  let size: VideoSize
  let layout: PixelLayout
  /// Whether black is 0 and white 255, instead of 16 and 235.
  let isFullRange: Bool
  /// Bytes of one frame.
  let byteCount: Int

  /// Nil for a size that is not possible.
  init?(size: VideoSize, layout: PixelLayout, isFullRange: Bool = false) {
    guard let byteCount = layout.byteCount(for: size) else { return nil }
    self.size = size
    self.layout = layout
    self.isFullRange = isFullRange
    self.byteCount = byteCount
  }

  /// What a header tells.
  init(_ header: Y4MHeader) throws(InputError) {
    try VideoScaling.check(header.size)
    guard let shape = PipeFormat(size: header.size, layout: header.layout, isFullRange: header.isFullRange) else {
      throw InputError("its size is \(header.size)")
    }
    self = shape
  }
}
