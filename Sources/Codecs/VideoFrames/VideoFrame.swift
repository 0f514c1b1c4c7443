import CYUV
package import Media

/// One frame as I420: full luma, and both chroma planes at half the width and height, rounded up.
package struct VideoFrame: Sendable, Hashable {
  package let size: VideoSize
  /// Brightness, 16 (black) to 235 (white), row by row without padding.
  package var luma: [UInt8]
  package var blue: [UInt8]
  package var red: [UInt8]

  /// Creates a frame of one grey.
  ///
  /// - Parameters:
  ///   - size: at least 1x1.
  ///   - luma: its brightness.
  package init(size: VideoSize, luma: UInt8 = 16) {
    self.size = VideoSize(width: max(1, size.width), height: max(1, size.height))
    self.luma = [UInt8](repeating: luma, count: self.size.width * self.size.height)
    let colours = ((self.size.width + 1) / 2) * ((self.size.height + 1) / 2)
    self.blue = [UInt8](repeating: 128, count: colours)
    self.red = [UInt8](repeating: 128, count: colours)
  }

  /// The length of a chroma plane's row, in bytes.
  package var colourStride: Int { (size.width + 1) / 2 }

  /// Whether every plane has the length that the size requires.
  package var isWhole: Bool {
    let colours = colourStride * ((size.height + 1) / 2)
    return luma.count == size.width * size.height && blue.count == colours && red.count == colours
  }
}

/// The layout of an uncompressed frame: planar or packed, row by row, without padding. A chroma plane whose side does
/// not divide evenly is rounded up.
package enum PixelLayout: Sendable, Hashable, CaseIterable {
  /// Luma, then both chroma planes at half the width and height.
  case i420
  /// Luma, then both chroma planes at half the width.
  case i422
  /// Luma and both chroma planes at full size.
  case i444
  /// Luma only, 16 (black) to 235 (white).
  case grey
  /// Red, green, blue, 0 to 255.
  case rgb
  /// Red, green, blue and alpha, 0 to 255, not premultiplied. It is composited over black.
  case rgba

  /// Returns the number of bytes of a frame; nil for a size that `VideoFrame` does not accept.
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

extension VideoFrame {
  /// The widths and heights that all codecs accept: VP8 has 14 bits for each (RFC 6386, 9.1).
  package static let sides = 2...16_383

  /// Converts an uncompressed frame. RGB is converted to ITU-R BT.601 in limited range.
  ///
  /// - Parameters:
  ///   - size: sides of 2 to 16383 pixels.
  ///   - bytes: exactly as many as the layout needs.
  package init(
    size: VideoSize, layout: PixelLayout, bytes: UnsafeRawBufferPointer
  ) throws(CodecError) {
    let action = "take a frame of \(size)"
    guard let wanted = layout.byteCount(for: size) else {
      throw CodecError(action, "a side must be 2 to 16383 pixels")
    }
    guard bytes.count == wanted, let start = bytes.bindMemory(to: UInt8.self).baseAddress else {
      throw CodecError(action, "it has \(bytes.count) bytes instead of \(wanted)")
    }
    var videoFrame = VideoFrame(size: size)
    let code = videoFrame.fill(from: start, layout: layout)
    if code != 0 { throw CodecError(action, "libyuv refuses it with \(code)") }
    self = videoFrame
  }

  private mutating func fill(from start: UnsafePointer<UInt8>, layout: PixelLayout) -> Int32 {
    let (width, height) = (Int32(size.width), Int32(size.height))
    let half = (width + 1) / 2
    let halfHeight = (size.height + 1) / 2
    let pixels = size.width * size.height
    return withMutablePlanes { luma, blue, red in
      switch layout {
      case .i420:
        let colours = Int(half) * halfHeight
        return I420Copy(
          start, width, start + pixels, half, start + pixels + colours, half, luma, width, blue, half, red, half,
          width, height)
      case .i422:
        let colours = Int(half) * Int(height)
        return I422ToI420(
          start, width, start + pixels, half, start + pixels + colours, half, luma, width, blue, half, red, half,
          width, height)
      case .i444:
        return I444ToI420(
          start, width, start + pixels, width, start + 2 * pixels, width, luma, width, blue, half, red, half,
          width, height)
      case .grey:
        return I400ToI420(start, width, luma, width, blue, half, red, half, width, height)
      case .rgb:
        return RAWToI420(start, 3 * width, luma, width, blue, half, red, half, width, height)
      case .rgba:
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4 * pixels) { flat in
          let code = ARGBAttenuate(start, 4 * width, flat.baseAddress, 4 * width, width, height)
          if code != 0 { return code }
          return ABGRToI420(flat.baseAddress, 4 * width, luma, width, blue, half, red, half, width, height)
        }
      }
    }
  }

  private mutating func withMutablePlanes(
    _ body: (UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?) -> Int32
  ) -> Int32 {
    luma.withUnsafeMutableBufferPointer { luma in
      blue.withUnsafeMutableBufferPointer { blue in
        red.withUnsafeMutableBufferPointer { red in
          body(luma.baseAddress, blue.baseAddress, red.baseAddress)
        }
      }
    }
  }

  /// Returns the frame scaled to another size with a box filter: each pixel is the mean of those that it replaces.
  ///
  /// - Parameter wanted: sides of 2 to 16383 pixels.
  package func scaled(to wanted: VideoSize) throws(CodecError) -> VideoFrame {
    if wanted == size { return self }
    let action = "scale a frame of \(size) to \(wanted)"
    for side in [size.width, size.height, wanted.width, wanted.height] where !Self.sides.contains(side) {
      throw CodecError(action, "a side must be 2 to 16383 pixels")
    }
    guard isWhole else { throw CodecError(action, "a plane is not of that size") }
    var scaled = VideoFrame(size: wanted)
    let from = (stride: Int32(size.width), colours: Int32(colourStride))
    let into = (stride: Int32(wanted.width), colours: Int32(scaled.colourStride))
    let (width, height) = (Int32(size.width), Int32(size.height))
    let code = scaled.withMutablePlanes { newLuma, newBlue, newRed in
      luma.withUnsafeBufferPointer { luma in
        blue.withUnsafeBufferPointer { blue in
          red.withUnsafeBufferPointer { red in
            I420Scale(
              luma.baseAddress, from.stride, blue.baseAddress, from.colours, red.baseAddress, from.colours,
              width, height, newLuma, into.stride, newBlue, into.colours, newRed, into.colours,
              Int32(wanted.width), Int32(wanted.height), kFilterBox)
          }
        }
      }
    }
    if code != 0 { throw CodecError(action, "libyuv refuses it with \(code)") }
    return scaled
  }
}
