import CYUV
package import Media

extension VideoFrame {
  /// The sides that a frame can have from one codec to the other: VP8 has 14 bits for each (RFC 6386, 9.1).
  package static let sides = 2...16_383

  /// Converts an uncompressed frame. Colours of red, green and blue become those of ITU-R BT.601 in studio range.
  ///
  /// - Parameters:
  ///   - size: sides of 2 to 16383 pixels.
  ///   - bytes: as many as the layout requests.
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

  /// The same frame in another size, each pixel the mean of those that it stands for.
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
