import Media

/// A luma plane in memory. It is valid only inside the closure that receives it.
struct PatternPlane {
  let start: UnsafePointer<UInt8>
  let width: Int
  let height: Int
  let stride: Int

  /// The fraction of a luma step in which `average` counts: sixteenths.
  static let fractions = 16
  /// The maximum number of pixels of a cell that are sampled in each direction.
  private static let points = 8
  /// The maximum difference in luma between pixels of a bar.
  private static let evenness = 24
  /// The number of pixels of a line that are sampled to decide whether it belongs to a bar.
  private static let pointsOfLine = 60

  /// Returns the mean luma of a box inside the plane, in sixteenths.
  func average(_ box: PatternLayout.Box) -> Int {
    let columnStep = (box.columns.count + Self.points - 1) / Self.points
    let rowStep = (box.rows.count + Self.points - 1) / Self.points
    guard columnStep > 0, rowStep > 0 else { return 0 }
    var sum = 0
    var count = 0
    var row = box.rows.lowerBound
    while row < box.rows.upperBound {
      let line = start + row * stride
      var column = box.columns.lowerBound
      while column < box.columns.upperBound {
        sum += Int(line[column])
        count += 1
        column += columnStep
      }
      row += rowStep
    }
    return sum * Self.fractions / count
  }

  /// The layout of the frame without uniform bars at the edges; nil if there are none.
  var withoutBars: PatternLayout? {
    func isEven(_ count: Int, _ luma: (Int) -> UInt8) -> Bool {
      let step = max(1, count / Self.pointsOfLine)
      var lowest = UInt8.max
      var highest = UInt8.min
      for position in Swift.stride(from: 0, to: count, by: step) {
        lowest = min(lowest, luma(position))
        highest = max(highest, luma(position))
        if Int(highest) - Int(lowest) > Self.evenness { return false }
      }
      return true
    }
    func isBar(row: Int) -> Bool { isEven(width) { start[row * stride + $0] } }
    var top = 0
    var bottom = height
    while top < bottom, isBar(row: top) { top += 1 }
    while bottom > top, isBar(row: bottom - 1) { bottom -= 1 }
    func isBar(column: Int) -> Bool { isEven(bottom - top) { start[(top + $0) * stride + column] } }
    var left = 0
    var right = width
    while left < right, isBar(column: left) { left += 1 }
    while right > left, isBar(column: right - 1) { right -= 1 }
    guard left < right, top < bottom, right - left < width || bottom - top < height else { return nil }
    return PatternLayout(size: VideoSize(width: right - left, height: bottom - top), left: left, top: top)
  }
}
