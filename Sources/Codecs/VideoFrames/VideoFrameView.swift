import CVPX
package import Media

/// A view of a decoded frame in the decoder's memory. It is valid only inside the closure that receives it.
package struct VideoFrameView {
  package let size: VideoSize
  package let luma: Plane
  package let blue: Plane
  package let red: Plane

  /// One plane: `height` rows of `width` bytes; each row starts `stride` bytes after the previous one.
  package struct Plane {
    package let bytes: UnsafePointer<UInt8>
    package let width: Int
    package let height: Int
    package let stride: Int

    package subscript(x: Int, y: Int) -> UInt8 {
      (0..<width).contains(x) && (0..<height).contains(y) ? bytes[y * stride + x] : 0
    }

    /// The mean of all values.
    package var average: Double {
      var sum = 0
      for y in 0..<height {
        for x in 0..<width { sum += Int(bytes[y * stride + x]) }
      }
      return Double(sum) / Double(max(1, width * height))
    }

    var copy: [UInt8] {
      var all = [UInt8]()
      all.reserveCapacity(width * height)
      for y in 0..<height { all.append(contentsOf: UnsafeBufferPointer(start: bytes + y * stride, count: width)) }
      return all
    }
  }

  /// - Parameters:
  ///   - size: in pixels.
  ///   - start: three planes of rows without padding: luma, blue, red.
  init(size: VideoSize, start: UnsafePointer<UInt8>) {
    let (halfWidth, halfHeight) = ((size.width + 1) / 2, (size.height + 1) / 2)
    let blue = start + size.width * size.height
    self.size = size
    self.luma = Plane(bytes: start, width: size.width, height: size.height, stride: size.width)
    self.blue = Plane(bytes: blue, width: halfWidth, height: halfHeight, stride: halfWidth)
    self.red = Plane(bytes: blue + halfWidth * halfHeight, width: halfWidth, height: halfHeight, stride: halfWidth)
  }

  init?(_ image: vpx_image_t) {
    guard image.fmt == VPX_IMG_FMT_I420, let y = image.planes.0, let u = image.planes.1, let v = image.planes.2 else {
      return nil
    }
    let width = Int(image.d_w)
    let height = Int(image.d_h)
    let (halfWidth, halfHeight) = ((width + 1) / 2, (height + 1) / 2)
    self.size = VideoSize(width: width, height: height)
    self.luma = Plane(bytes: y, width: width, height: height, stride: Int(image.stride.0))
    self.blue = Plane(bytes: u, width: halfWidth, height: halfHeight, stride: Int(image.stride.1))
    self.red = Plane(bytes: v, width: halfWidth, height: halfHeight, stride: Int(image.stride.2))
  }

  /// Passes an image of 10 or 12 bits a sample to `body` with the upper 8 bits of each.
  ///
  /// - Returns: what `body` returns; nil if the image has another format.
  static func narrowing<Result>(_ image: vpx_image_t, _ body: (VideoFrameView) -> Result) -> Result? {
    let shift = Int(image.bit_depth) - 8
    guard image.fmt == VPX_IMG_FMT_I42016, (1...8).contains(shift), let luma = image.planes.0,
      let blue = image.planes.1,
      let red = image.planes.2
    else { return nil }
    let (width, height) = (Int(image.d_w), Int(image.d_h))
    let (halfWidth, halfHeight) = ((width + 1) / 2, (height + 1) / 2)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(width * height + 2 * halfWidth * halfHeight)
    let planes = [
      (luma, Int(image.stride.0), width, height), (blue, Int(image.stride.1), halfWidth, halfHeight),
      (red, Int(image.stride.2), halfWidth, halfHeight),
    ]
    for (start, stride, width, height) in planes {
      for row in 0..<height {
        // The stride is in bytes, and a sample has two.
        let samples = UnsafeRawPointer(start + row * stride).assumingMemoryBound(to: UInt16.self)
        for column in 0..<width { bytes.append(UInt8(truncatingIfNeeded: samples[column] >> UInt16(shift))) }
      }
    }
    return bytes.withUnsafeBufferPointer { buffer in
      buffer.baseAddress.map { body(VideoFrameView(size: VideoSize(width: width, height: height), start: $0)) }
    }
  }

  /// The mean brightness: 16 is black, 235 white.
  package var brightness: Double { luma.average }

  /// A copy of the frame, which stays valid.
  package var copy: VideoFrame {
    var videoFrame = VideoFrame(size: size)
    videoFrame.luma = luma.copy
    videoFrame.blue = blue.copy
    videoFrame.red = red.copy
    return videoFrame
  }
}
