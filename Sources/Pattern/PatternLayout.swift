import Media

/// The positions of all elements of the pattern.
///
/// The frame is divided into 20 columns and 30 rows, whatever its size. Positions are in columns and rows, and one
/// of them need not be a whole number of pixels.
///
/// ```
/// row  0 ┌────────────────────────────────────────────┐
///        │ colour bars                                │
///      4 ├──────┬──────────────────────────────┬──────┤
///        │ block│ quiet (black)                │ lamp │
///      5 │      │  ┌────────────────────────┐  │      │
///        │      │  │ 16 reference cells     │  │      │
///      7 │      │  ├────────────────────────┤  ├──────┤
///        │      │  │ 8 lines of 16 cells,   │  │ block│
///        │      │  │ each 1 column, 2 rows  │  │      │
///     23 │      │  └────────────────────────┘  │      │
///     24 ├──────┴──────────────────────────────┴──────┤
///        │ noise, and the clock for people            │
///     29 ├────────────────────────────────────────────┤
///        │ ruler: alternating dark and light cells    │
///     30 └────────────────────────────────────────────┘
/// column 0    1.5 2                        18 18.5   20
/// ```
struct PatternLayout: Sendable, Hashable {
  static let columns = 20
  static let rows = 30

  /// The position of the code, and its numbers of cells.
  static let codeColumn = 2
  static let referenceRow = 5
  static let codeRow = 7
  static let cellsInLine = 16
  static let codeLines = 8
  static let rowsOfCell = 2

  /// The reference cells from the left, eight white and eight black ones, by which a reader recognizes the pattern.
  static let reference: UInt16 = 0b1011_0010_1101_0100

  /// The position of the pattern inside a larger frame, in pixels.
  let left: Int
  let top: Int
  let size: VideoSize

  init(size: VideoSize, left: Int = 0, top: Int = 0) {
    self.size = size
    self.left = left
    self.top = top
  }

  /// A rectangle of pixels.
  struct Box: Sendable, Hashable {
    var columns: Range<Int>
    var rows: Range<Int>

    /// The middle half of the box in each direction, at least one pixel, which errors of encoders and scalers at the
    /// edges do not reach.
    var core: Box {
      func middle(_ range: Range<Int>) -> Range<Int> {
        let edge = range.count / 4
        return range.count > 2 * edge ? range.lowerBound + edge..<range.upperBound - edge : range
      }
      return Box(columns: middle(columns), rows: middle(rows))
    }
  }

  /// Returns the pixels between two columns and two rows, counted in quarters.
  func box(quarterColumns: Range<Int>, quarterRows: Range<Int>) -> Box {
    func position(_ quarter: Int, of all: Int, in pixels: Int) -> Int { quarter * pixels / (4 * all) }
    let columns =
      left
      + position(quarterColumns.lowerBound, of: Self.columns, in: size.width)..<left
      + position(quarterColumns.upperBound, of: Self.columns, in: size.width)
    let rows =
      top
      + position(quarterRows.lowerBound, of: Self.rows, in: size.height)..<top
      + position(quarterRows.upperBound, of: Self.rows, in: size.height)
    return Box(columns: columns, rows: rows)
  }

  func box(columns: Range<Int>, rows: Range<Int>) -> Box {
    box(
      quarterColumns: columns.lowerBound * 4..<columns.upperBound * 4,
      quarterRows: rows.lowerBound * 4..<rows.upperBound * 4)
  }

  /// Returns a reference cell, 0 to 15 from the left.
  func referenceCell(_ index: Int) -> Box {
    cell(column: index, row: Self.referenceRow)
  }

  /// Returns a cell of the code, 0 to 127 line by line.
  func codeCell(_ index: Int) -> Box {
    let (line, position) = index.quotientAndRemainder(dividingBy: Self.cellsInLine)
    return cell(column: position, row: Self.codeRow + line * Self.rowsOfCell)
  }

  private func cell(column: Int, row: Int) -> Box {
    let column = Self.codeColumn + column
    return box(columns: column..<column + 1, rows: row..<row + Self.rowsOfCell)
  }
}
