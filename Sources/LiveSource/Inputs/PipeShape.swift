import Codecs
import Media

/// How the pictures of a pipe lie in its bytes.
struct PipeShape: Sendable, Hashable {
  let size: PictureSize
  let layout: PixelLayout
  /// Whether black is 0 and white 255, instead of 16 and 235.
  let isFullRange: Bool
  /// Bytes of one picture.
  let byteCount: Int

  /// Nil for a size that is not possible.
  init?(size: PictureSize, layout: PixelLayout, isFullRange: Bool = false) {
    guard let byteCount = layout.byteCount(for: size) else { return nil }
    self.size = size
    self.layout = layout
    self.isFullRange = isFullRange
    self.byteCount = byteCount
  }

  /// What a header tells.
  init(_ header: Y4MHeader) throws(InputRefusal) {
    try PictureFit.check(header.size)
    guard let shape = PipeShape(size: header.size, layout: header.layout, isFullRange: header.isFullRange) else {
      throw InputRefusal("its size is \(header.size)")
    }
    self = shape
  }
}
