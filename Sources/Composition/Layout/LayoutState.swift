/// What happens at a frame that can move tiles.
struct LayoutEvent: Sendable {
  let frame: Int64
  let kind: Kind

  enum Kind: Sendable {
    case vanishes(Int)
    /// The time is in units of `MediaTimebase.rate`.
    case speechEnds(user: Int, time: Int64)
    case appears(Int)
    case speechBegins(user: Int)
    case speaker(user: Int)
  }

  init(frame: Int64, _ kind: Kind) {
    (self.frame, self.kind) = (frame, kind)
  }

  /// In which order events of one frame are applied.
  var order: Int {
    switch kind {
    case .vanishes: 0
    case .speechEnds: 1
    case .appears: 2
    case .speechBegins: 3
    case .speaker: 4
    }
  }
}

/// Follows events and says who is there.
struct LayoutState: Sendable {
  private(set) var moment = LayoutMoment()
  private let layout: Layout
  /// The position of each tile in the order of first appearance.
  private let positions: [Int]
  /// How many speeches of each user have begun and not ended.
  private var speeches: [Int: Int] = [:]

  init(_ layout: Layout) {
    self.layout = layout
    let order = layout.tiles.enumerated().sorted { one, other in
      let (first, second) = (one.element, other.element)
      let (start, end) = (first.firstAppearance, second.firstAppearance)
      return (start, first.user, first.stream, one.offset) < (end, second.user, second.stream, other.offset)
    }
    var positions = [Int](repeating: 0, count: layout.tiles.count)
    for (position, tile) in order.enumerated() { positions[tile.offset] = position }
    self.positions = positions
  }

  /// Returns whether tiles may move by it.
  mutating func apply(_ event: LayoutEvent) -> Bool {
    switch event.kind {
    case .appears(let tile):
      insert(tile, into: &moment.present)
      if !moment.appeared.contains(tile) { insert(tile, into: &moment.appeared) }
      moment.arrivals[tile] = event.frame
      return true
    case .vanishes(let tile):
      moment.present.removeAll { $0 == tile }
      moment.arrivals[tile] = nil
      return true
    case .speechBegins(let user):
      speeches[user, default: 0] += 1
      moment.lastSpeech[user] = .max
    case .speechEnds(let user, let time):
      let open = (speeches[user] ?? 0) - 1
      speeches[user] = open > 0 ? open : nil
      if open <= 0 { moment.lastSpeech[user] = time }
    case .speaker(let user):
      moment.speaker = user
    }
    return layout.isMovedBySpeech(at: moment)
  }

  private func insert(_ tile: Int, into list: inout [Int]) {
    let index = list.firstIndex { positions[$0] > positions[tile] } ?? list.count
    list.insert(tile, at: index)
  }
}

extension LayoutTile {
  fileprivate var firstAppearance: Int64 { presence.lazy.map(\.lowerBound).min() ?? .max }
}

extension Layout {
  /// Whether it matters who speaks, at any time.
  var dependsOnSpeech: Bool {
    switch choice {
    case .grid, .row: tiles.count > Self.maximumTiles
    case .speaker, .presenter: true
    case .only, .regions: false
    }
  }

  fileprivate func isMovedBySpeech(at moment: LayoutMoment) -> Bool {
    switch choice {
    case .grid, .row: moment.present.count > Self.maximumTiles
    case .speaker, .presenter: true
    case .only, .regions: false
    }
  }
}
