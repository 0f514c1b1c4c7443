internal import Media

extension Layout {
  /// How many tiles are in the column beside the large one.
  static let maximumBeside = 5

  /// A large tile, and others in a column at the right.
  ///
  /// A shared screen is the large one while it lasts, the latest of several. Otherwise it is that of the presenter, if there
  /// is one, or of the speaker.
  func stagePlacements(at moment: LayoutMoment, in area: LayoutArea, presenter: UntrustedText?) -> [TilePlacement] {
    let presenting = presenter.flatMap { name in moment.present.first { tiles[$0].names.contains(name) } }
    let central = presenting.map { tiles[$0].user } ?? speaker(at: moment)
    let screens = moment.present.filter { tiles[$0].isScreen }
    let latestScreen = screens.max { (moment.arrivals[$0] ?? 0, $0) < (moment.arrivals[$1] ?? 0, $1) }
    guard let large = latestScreen ?? firstTile(of: central, at: moment) ?? moment.present.first else { return [] }

    // The owner of the screen stays beside it, and so does the user who would be large without it.
    let needed = Set([tiles[large].user, central].compactMap { firstTile(of: $0, at: moment) })
    let rest = moment.keeping { $0 != large && !needed.contains($0) }
    let beside = needed.subtracting([large])
    let kept = beside.union(selected(Self.maximumBeside - beside.count, of: rest))
    let others = moment.present.filter { kept.contains($0) }

    guard !others.isEmpty, let column = Self.column(in: area) else { return [area.placement(of: large)] }
    var main = area
    main.width = even(column.x - area.x - CellGrid.gap)
    return [main.placement(of: large)]
      + others.enumerated().map { index, tile in
        var cell = column
        cell.y += index * (column.height + CellGrid.gap)
        return cell.placement(of: tile)
      }
  }

  /// The first cell of the column: five of them fit into the height, and none is wider than a quarter of the output.
  private static func column(in area: LayoutArea) -> LayoutArea? {
    let height = (area.height - CellGrid.gap * (maximumBeside - 1)) / maximumBeside
    let cell = CellGrid.wide(within: VideoSize(width: area.width / 4, height: height))
    guard cell.width >= 2, cell.height >= 2, area.width - cell.width - CellGrid.gap >= 2 else { return nil }
    return LayoutArea(
      x: area.x + area.width - cell.width, y: area.y, width: cell.width, height: cell.height)
  }

  /// The speaker; where they have left, who spoke last of those who are there; before anybody spoke, who came first.
  private func speaker(at moment: LayoutMoment) -> Int? {
    if let speaker = moment.speaker, firstTile(of: speaker, at: moment) != nil { return speaker }
    var best: (user: Int, time: Int64)?
    for tile in moment.present {
      let user = tiles[tile].user
      let time = moment.lastSpeech[user] ?? .min
      if time > best?.time ?? .min || best == nil { best = (user, time) }
    }
    return best?.user
  }

  /// The user's tile of the least stream that is no screen.
  private func firstTile(of user: Int?, at moment: LayoutMoment) -> Int? {
    moment.present.filter { tiles[$0].user == user && !tiles[$0].isScreen }
      .min { (tiles[$0].stream, $0) < (tiles[$1].stream, $1) }
  }
}
