/// Drawn text: the coverage of each pixel, 0 to 255, row by row without padding.
package struct TextBitmap: Sendable, Hashable {
  package let width: Int
  package let height: Int
  package let coverage: [UInt8]

  package static let empty = TextBitmap(width: 0, height: 0, coverage: [])

  /// Becomes empty if the coverage is not of that size.
  package init(width: Int, height: Int, coverage: [UInt8]) {
    let isWhole = width > 0 && height > 0 && width.multipliedReportingOverflow(by: height) == (coverage.count, false)
    (self.width, self.height) = isWhole ? (width, height) : (0, 0)
    self.coverage = isWhole ? coverage : []
  }
}

extension TextBitmap {
  /// The pixels with any coverage: columns and rows; nil if there are none.
  package var ink: (columns: Range<Int>, rows: Range<Int>)? {
    var (left, right, top, bottom) = (width, 0, height, 0)
    for y in 0..<height {
      for x in 0..<width where coverage[y * width + x] > 0 {
        (left, right, top, bottom) = (min(left, x), max(right, x + 1), min(top, y), max(bottom, y + 1))
      }
    }
    return left < right ? (left..<right, top..<bottom) : nil
  }
}
