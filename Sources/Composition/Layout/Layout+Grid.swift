internal import Media

extension Layout {
  /// All tiles in cells of 16:9. Shared screens come first and take two cells in each direction.
  func gridPlacements(at moment: LayoutMoment, in area: LayoutArea) -> [TilePlacement] {
    let shown = selected(Self.maximumTiles, of: moment)
    let ordered = shown.filter { tiles[$0].isScreen } + shown.filter { !tiles[$0].isScreen }
    // One tile alone is as large as the output, a screen as well.
    let spans = ordered.count == 1 ? [1] : ordered.map { tiles[$0].isScreen ? 2 : 1 }
    guard let packing = GridPacking.largest(spans: spans, in: area) else { return [] }
    return zip(ordered, packing.areas).map { tile, area in area.placement(of: tile) }
  }

  /// All tiles beside each other, in the middle of the height.
  func rowPlacements(at moment: LayoutMoment, in area: LayoutArea) -> [TilePlacement] {
    let shown = selected(Self.maximumTiles, of: moment)
    guard let cells = CellGrid(columns: shown.count, rows: 1, in: area, isWide: true) else { return [] }
    return shown.enumerated().map { column, tile in cells.area(column: column, row: 0).placement(of: tile) }
  }
}

/// Cells of a grid in which some tiles take several cells.
private struct GridPacking {
  private let cells: CellGrid
  /// The first cell of each tile.
  private let corners: [(column: Int, row: Int)]
  private let spans: [Int]

  /// The packing whose cells are largest, of those with equal ones that with the fewest cells.
  ///
  /// - Parameter spans: how many cells each tile takes in each direction, 1 or 2.
  static func largest(spans: [Int], in area: LayoutArea) -> GridPacking? {
    guard let widest = spans.max() else { return nil }
    var best: GridPacking?
    for columns in widest...max(widest, spans.reduce(0, +)) {
      guard let packing = GridPacking(spans: spans, columns: columns, in: area) else { continue }
      if packing.isBetter(than: best) { best = packing }
    }
    return best
  }

  private init?(spans: [Int], columns: Int, in area: LayoutArea) {
    // Which cells of each row are taken.
    var taken: [[Bool]] = []
    var corners: [(column: Int, row: Int)] = []
    for span in spans {
      let corner = Self.corner(for: span, columns: columns, taken: taken)
      while taken.count < corner.row + span { taken.append([Bool](repeating: false, count: columns)) }
      for row in corner.row..<corner.row + span {
        for column in corner.column..<corner.column + span { taken[row][column] = true }
      }
      corners.append(corner)
    }
    guard let cells = CellGrid(columns: columns, rows: taken.count, in: area, isWide: true) else { return nil }
    (self.cells, self.corners, self.spans) = (cells, corners, spans)
  }

  /// The first free place, row by row.
  private static func corner(for span: Int, columns: Int, taken: [[Bool]]) -> (column: Int, row: Int) {
    for row in taken.indices {
      for column in 0...max(0, columns - span) {
        let isFree = (row..<row + span).allSatisfy { row in
          row >= taken.count || !taken[row][column..<column + span].contains(true)
        }
        if isFree { return (column, row) }
      }
    }
    return (0, taken.count)
  }

  private func isBetter(than other: GridPacking?) -> Bool {
    guard let other else { return true }
    let (one, two) = (cells.width * cells.height, other.cells.width * other.cells.height)
    return one == two ? cells.columns * cells.rows < other.cells.columns * other.cells.rows : one > two
  }

  /// Where the tiles are. The last row is centred, unless a larger tile reaches into it.
  var areas: [LayoutArea] {
    let lastRow = cells.rows - 1
    let inLastRow = zip(corners, spans).filter { $0.row + $1 > lastRow }
    let isCentred = inLastRow.allSatisfy { $1 == 1 }
    let shift = isCentred ? cells.columns - inLastRow.count : 0
    return zip(corners, spans).map { corner, span in
      cells.area(column: corner.column, row: corner.row, span: span, shift: corner.row == lastRow ? shift : 0)
    }
  }
}
