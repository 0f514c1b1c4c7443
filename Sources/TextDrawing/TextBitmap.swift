/// Drawn text: the coverage of each pixel, 0 to 255, row by row without padding.
package struct TextBitmap: Sendable, Hashable {
  package let width: Int
  package let height: Int
  package let coverage: [UInt8]

  package init(width: Int, height: Int, coverage: [UInt8]) {
    (self.width, self.height, self.coverage) = (width, height, coverage)
  }
}
