import CYUV
package import Media

extension VideoFrame {
  /// Returns the frame turned, and then mirrored, as an orientation says.
  package func turned(_ orientation: VideoOrientation) throws(CodecError) -> VideoFrame {
    if orientation == .upright { return self }
    var turned = VideoFrame(size: orientation.size(of: size))
    let colours = Int32(colourStride)
    let code = luma.withUnsafeBufferPointer { luma -> Int32 in
      blue.withUnsafeBufferPointer { blue in
        red.withUnsafeBufferPointer { red in
          guard isWhole, let luma = luma.baseAddress, let blue = blue.baseAddress, let red = red.baseAddress else {
            return -1
          }
          return turned.fill(
            from: (luma, Int32(size.width)), (blue, colours), (red, colours), of: size, turned: orientation)
        }
      }
    }
    if code != 0 { throw CodecError("turn a frame of \(size)", "libyuv refuses it with \(code)") }
    return turned
  }

  /// Fills the frame with the planes of another one, turned. It has the size that the orientation gives the other one.
  ///
  /// - Returns: false if the sizes differ.
  package mutating func fill(with view: VideoFrameView, turned orientation: VideoOrientation) -> Bool {
    guard size == orientation.size(of: view.size) else { return false }
    return fill(
      from: (view.luma.bytes, Int32(view.luma.stride)), (view.blue.bytes, Int32(view.blue.stride)),
      (view.red.bytes, Int32(view.red.stride)), of: view.size, turned: orientation) == 0
  }

  /// - Parameter original: the size of the planes, each of which comes with the distance of its rows.
  /// - Returns: what libyuv returns.
  private mutating func fill(
    from newLuma: (start: UnsafePointer<UInt8>, stride: Int32), _ newBlue: (start: UnsafePointer<UInt8>, stride: Int32),
    _ newRed: (start: UnsafePointer<UInt8>, stride: Int32), of original: VideoSize, turned orientation: VideoOrientation
  ) -> Int32 {
    let (stride, colours) = (Int32(size.width), Int32(colourStride))
    let (mode, isUpsideDown) = orientation.operation
    // A negative height means that the rows are read from the bottom to the top.
    let rows = isUpsideDown ? -Int32(original.height) : Int32(original.height)
    return luma.withUnsafeMutableBufferPointer { luma in
      blue.withUnsafeMutableBufferPointer { blue in
        red.withUnsafeMutableBufferPointer { red in
          I420Rotate(
            newLuma.start, newLuma.stride, newBlue.start, newBlue.stride, newRed.start, newRed.stride,
            luma.baseAddress, stride, blue.baseAddress, colours, red.baseAddress, colours, Int32(original.width), rows,
            mode)
        }
      }
    }
  }
}

extension VideoOrientation {
  /// What libyuv does to a frame: whether it turns it upside down, and how far it turns it clockwise after that. To turn and then to
  /// mirror left to right is to turn upside down and then to turn the other way round by 180° more.
  fileprivate var operation: (mode: RotationMode, isUpsideDown: Bool) {
    let angle = isMirrored ? (540 - rotation) % 360 : rotation
    let mode =
      switch angle {
      case 90: kRotate90
      case 180: kRotate180
      case 270: kRotate270
      default: kRotate0
      }
    return (mode, isMirrored)
  }
}
