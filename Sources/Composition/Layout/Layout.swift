package import Media

/// Places tiles in the output frame. Pure.
package struct Layout: Sendable {
  /// The most tiles in a frame.
  package static let maximumTiles = 25

  package let choice: LayoutChoice
  package let tiles: [LayoutTile]
  package let size: VideoSize
  /// For each region of a file, which tiles it can show.
  let matches: [Set<Int>]

  /// - Parameters:
  ///   - tiles: all tiles of the call, by their index in the plan.
  ///   - size: the size of the output, in pixels.
  package init(_ choice: LayoutChoice, tiles: [LayoutTile], size: VideoSize) {
    self.choice = choice
    self.tiles = tiles
    self.size = size
    if case .regions(let file) = choice {
      matches = file.regions.map { region in Set(tiles.indices.filter { region.shows(tiles[$0]) }) }
    } else {
      matches = []
    }
  }

  /// Returns where tiles are at a moment, those first that are covered by others.
  package func placements(at moment: LayoutMoment) -> [TilePlacement] {
    let moment = moment.keeping { tiles.indices.contains($0) }
    let area = LayoutArea(size)
    return switch choice {
    case .grid: gridPlacements(at: moment, in: area)
    case .row: rowPlacements(at: moment, in: area)
    case .speaker: stagePlacements(at: moment, in: area, presenter: nil)
    case .presenter(let name): stagePlacements(at: moment, in: area, presenter: name)
    case .only(let name):
      stagePlacements(at: moment.keeping { tiles[$0].names.contains(name) }, in: area, presenter: nil)
    case .regions(let file): regionPlacements(of: file, at: moment)
    }
  }

  /// Returns as many tiles as there is room for, in order of their first appearance: shared screens and those who spoke last.
  func selected(_ maximum: Int, of moment: LayoutMoment) -> [Int] {
    guard moment.present.count > maximum else { return moment.present }
    let ranked = moment.present.enumerated().sorted { one, other in
      let (first, second) = (rank(one.element, at: moment), rank(other.element, at: moment))
      return first == second ? one.offset < other.offset : first > second
    }
    let kept = Set(ranked.prefix(max(0, maximum)).map(\.element))
    return moment.present.filter { kept.contains($0) }
  }

  /// What comes first when there is no room for all: screens, then those who spoke last.
  private func rank(_ tile: Int, at moment: LayoutMoment) -> RankKey {
    RankKey(isScreen: tiles[tile].isScreen, lastSpeech: moment.lastSpeech[tiles[tile].user] ?? .min)
  }

  private struct RankKey: Comparable {
    var isScreen: Bool
    var lastSpeech: Int64

    static func < (one: Self, other: Self) -> Bool {
      one.isScreen == other.isScreen ? one.lastSpeech < other.lastSpeech : other.isScreen
    }
  }
}

extension LayoutMoment {
  /// The same moment with the tiles that a condition holds for.
  func keeping(_ isKept: (Int) -> Bool) -> LayoutMoment {
    var moment = self
    moment.present = present.filter(isKept)
    moment.appeared = appeared.filter(isKept)
    return moment
  }
}

extension LayoutRegion {
  func shows(_ tile: LayoutTile) -> Bool {
    switch content {
    case .all: break
    case .camera: if tile.isScreen { return false }
    case .screen: if !tile.isScreen { return false }
    }
    return users.contains { $0.matches(anyOf: tile.names) } && !exclude.contains { $0.matches(anyOf: tile.names) }
  }
}
