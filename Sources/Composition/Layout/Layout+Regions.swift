extension Layout {
  /// The tiles of each region of a file, in cells.
  func regionPlacements(of file: LayoutFile, at moment: LayoutMoment) -> [TilePlacement] {
    var placements: [TilePlacement] = []
    for (region, matching) in zip(file.regions, matches) {
      let room = Self.maximumTiles - placements.count
      placements += self.placements(in: region, of: moment.keeping { matching.contains($0) }, room: room)
    }
    // Of equal ones, the order stays.
    return placements.enumerated().sorted { ($0.element.z, $0.offset) < ($1.element.z, $1.offset) }.map(\.element)
  }

  private func placements(in region: LayoutRegion, of moment: LayoutMoment, room: Int) -> [TilePlacement] {
    let area = LayoutArea(x: region.x, y: region.y, width: region.width, height: region.height)
    let capacity = min(room, region.capacity)
    // Nil is a cell whose tile has vanished.
    let cells: [Int?]
    switch region.reuse {
    case .none: cells = Array(moment.appeared.prefix(capacity)).map { moment.present.contains($0) ? $0 : nil }
    case .oldest: cells = Array(moment.present.prefix(capacity))
    case .newest:
      let newest = moment.present.enumerated().sorted { one, other in
        (moment.arrivals[one.element] ?? 0, one.offset) > (moment.arrivals[other.element] ?? 0, other.offset)
      }
      let kept = Set(newest.prefix(capacity).map(\.element))
      cells = moment.present.filter { kept.contains($0) }
    }
    guard let grid = region.grid(for: cells.count, in: area) else { return [] }
    let inLastRow = cells.count - grid.columns * (grid.rows - 1)
    return cells.enumerated().compactMap { index, tile in
      guard let tile else { return nil }
      let row = index / grid.columns
      let shift = row == grid.rows - 1 ? grid.columns - inLastRow : 0
      return grid.area(column: index % grid.columns, row: row, shift: shift)
        .placement(of: tile, z: region.z, fit: region.fit)
    }
  }
}

extension LayoutRegion {
  /// How many cells it has at most.
  var capacity: Int {
    min(Layout.maximumTiles, (columns ?? Layout.maximumTiles) * (rows ?? Layout.maximumTiles))
  }

  /// The cells in which pictures of 16:9 are largest; nil for no cells.
  fileprivate func grid(for count: Int, in area: LayoutArea) -> CellGrid? {
    guard count > 0 else { return nil }
    var best: CellGrid?
    for columns in 1...min(count, columns ?? count) {
      let rows = (count + columns - 1) / columns
      guard rows <= self.rows ?? rows, let grid = CellGrid(columns: columns, rows: rows, in: area, isWide: false)
      else { continue }
      if let other = best, grid.pictureArea <= other.pictureArea { continue }
      best = grid
    }
    return best
  }
}
