package import Media

/// How the bytes of an uncompressed frame lie: planes one after the other or pixels one after the other, row by row,
/// without padding. A colour plane whose side does not divide evenly is rounded up.
package enum PixelLayout: Sendable, Hashable, CaseIterable {
  /// Luma, then both colours at half the width and height.
  case i420
  /// Luma, then both colours at half the width.
  case i422
  /// Luma and both colours at full size.
  case i444
  /// Luma alone, 16 (black) to 235 (white).
  case grey
  /// Red, green, blue, 0 to 255.
  case rgb
  /// Red, green, blue and how opaque, 0 to 255; not multiplied. It is laid over black.
  case rgba

  /// How many bytes a frame has; nil for one that `VideoFrame` does not take.
  package func byteCount(for size: VideoSize) -> Int? {
    guard VideoFrame.sides.contains(size.width), VideoFrame.sides.contains(size.height) else { return nil }
    let pixels = size.width * size.height
    let (halfWidth, halfHeight) = ((size.width + 1) / 2, (size.height + 1) / 2)
    return switch self {
    case .i420: pixels + 2 * halfWidth * halfHeight
    case .i422: pixels + 2 * halfWidth * size.height
    case .i444, .rgb: 3 * pixels
    case .grey: pixels
    case .rgba: 4 * pixels
    }
  }
}
