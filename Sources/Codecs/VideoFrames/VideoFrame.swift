package import Media

/// One frame as I420: full luma, and both colours at half the width and height, rounded up.
package struct VideoFrame: Sendable, Hashable {
  package let size: VideoSize
  /// Brightness, 16 (black) to 235 (white), row by row without padding.
  package var luma: [UInt8]
  package var blue: [UInt8]
  package var red: [UInt8]

  /// A frame of one grey.
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

  /// A row of a colour plane, in bytes.
  package var colourStride: Int { (size.width + 1) / 2 }

  /// Whether every plane is as long as the size says.
  package var isWhole: Bool {
    let colours = colourStride * ((size.height + 1) / 2)
    return luma.count == size.width * size.height && blue.count == colours && red.count == colours
  }
}
