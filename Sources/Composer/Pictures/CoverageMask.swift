internal import TextDrawing

/// Which pixels a shape or a text covers, and how much of each.
struct CoverageMask: Sendable, Hashable {
  let width: Int
  let height: Int
  /// 0 to 255, row by row without padding.
  let coverage: [UInt8]

  static let empty = CoverageMask(width: 0, height: 0, coverage: [])

  private init(width: Int, height: Int, coverage: [UInt8]) {
    (self.width, self.height, self.coverage) = (width, height, coverage)
  }

  init(_ text: TextBitmap) {
    self.init(width: text.width, height: text.height, coverage: text.coverage)
  }

  /// Only what is covered of a text, so that it can be centred by what is seen.
  init(inkOf text: TextBitmap) {
    guard let ink = text.ink else {
      self = .empty
      return
    }
    self.init(
      width: ink.columns.count, height: ink.rows.count,
      coverage: ink.rows.flatMap {
        text.coverage[($0 * text.width + ink.columns.lowerBound)...].prefix(ink.columns.count)
      })
  }

  /// A shape in a square.
  ///
  /// - Parameters:
  ///   - side: in pixels.
  ///   - isInside: whether a point belongs to the shape; the unit is a 1/8 of a pixel.
  private init(side: Int, isInside: (_ x: Int, _ y: Int) -> Bool) {
    var coverage = [UInt8](repeating: 0, count: side * side)
    for y in 0..<side {
      for x in 0..<side {
        var points = 0
        // 16 points in each pixel.
        for row in 0..<4 {
          for column in 0..<4 where isInside(8 * x + 2 * column + 1, 8 * y + 2 * row + 1) { points += 1 }
        }
        coverage[y * side + x] = UInt8(min(255, points * 16))
      }
    }
    self.init(width: side, height: side, coverage: coverage)
  }

  /// A full circle.
  static func disc(diameter: Int) -> CoverageMask {
    let radius = 4 * diameter
    return CoverageMask(side: diameter) { x, y in
      (x - radius) * (x - radius) + (y - radius) * (y - radius) <= radius * radius
    }
  }

  /// A triangle that stands on its side, with an exclamation mark left out.
  static func warning(side: Int) -> CoverageMask {
    let full = 8 * side
    return CoverageMask(side: side) { x, y in
      let distance = abs(2 * x - full)
      // As wide as it is high.
      guard distance <= y else { return false }
      let isStroke = distance <= full / 6 && y >= full * 36 / 100 && y <= full * 68 / 100
      let isDot = distance <= full / 6 && y >= full * 76 / 100 && y <= full * 90 / 100
      return !isStroke && !isDot
    }
  }
}
