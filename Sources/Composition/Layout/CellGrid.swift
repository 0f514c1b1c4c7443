internal import Media

/// Cells of equal size in rows, 4 pixels from each other, in the middle of an area. All lengths are pixels, and even.
struct CellGrid {
  static let gap = 4

  let columns: Int
  let rows: Int
  /// The size of a cell.
  let width: Int
  let height: Int
  /// The upper left corner of the first cell.
  private let x: Int
  private let y: Int

  /// Cells of a number of columns and rows; nil if they would have no pixels.
  ///
  /// - Parameter isWide: whether cells are 16:9. Otherwise they fill the area.
  init?(columns: Int, rows: Int, in area: LayoutArea, isWide: Bool) {
    guard columns > 0, rows > 0 else { return nil }
    var width = even((area.width - Self.gap * (columns - 1)) / columns)
    var height = even((area.height - Self.gap * (rows - 1)) / rows)
    if isWide {
      let wide = Self.wide(within: VideoSize(width: width, height: height))
      (width, height) = (wide.width, wide.height)
    }
    guard width >= 2, height >= 2 else { return nil }
    (self.columns, self.rows, self.width, self.height) = (columns, rows, width, height)
    x = area.x + even((area.width - columns * (width + Self.gap) + Self.gap) / 2)
    y = area.y + even((area.height - rows * (height + Self.gap) + Self.gap) / 2)
  }

  /// The largest picture of 16:9 in a cell, in pixels.
  var pictureArea: Int {
    let picture = Self.wide(within: VideoSize(width: width, height: height))
    return picture.width * picture.height
  }

  /// Where cells are that are merged into one.
  ///
  /// - Parameters:
  ///   - column: the first column, from 0.
  ///   - row: the first row, from 0.
  ///   - span: how many cells it has in each direction.
  ///   - shift: by how many cells it is moved to the right, in halves.
  func area(column: Int, row: Int, span: Int = 1, shift: Int = 0) -> LayoutArea {
    LayoutArea(
      x: x + column * (width + Self.gap) + even(shift * (width + Self.gap) / 2), y: y + row * (height + Self.gap),
      width: span * (width + Self.gap) - Self.gap, height: span * (height + Self.gap) - Self.gap)
  }

  /// The largest size of 16:9 within another.
  static func wide(within size: VideoSize) -> VideoSize {
    size.width * 9 <= size.height * 16
      ? VideoSize(width: even(size.width), height: even(size.width * 9 / 16))
      : VideoSize(width: even(size.height * 16 / 9), height: even(size.height))
  }
}

/// A rectangle of the output, in pixels.
struct LayoutArea: Hashable {
  var x: Int
  var y: Int
  var width: Int
  var height: Int

  init(x: Int, y: Int, width: Int, height: Int) {
    (self.x, self.y, self.width, self.height) = (x, y, width, height)
  }

  init(_ size: VideoSize) {
    self.init(x: 0, y: 0, width: even(size.width), height: even(size.height))
  }

  func placement(of tile: Int, z: Int = 0, fit: TileFit? = nil) -> TilePlacement {
    TilePlacement(tile: tile, x: x, y: y, width: width, height: height, z: z, fit: fit)
  }
}

/// The largest even number that is not greater; 0 for a negative one.
func even(_ length: Int) -> Int { max(0, length) / 2 * 2 }
