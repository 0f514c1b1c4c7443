import Composition
import Media

/// Tiles, users and moments for tests of layouts.
enum Sample {
  static let second: Int64 = 720_000
  static let size = VideoSize(width: 1280, height: 720)

  /// A camera that is there from the beginning.
  static func camera(_ user: Int, _ name: UntrustedText? = nil, from start: Int64 = 0, to end: Int64 = 100)
    -> LayoutTile
  {
    LayoutTile(
      user: user, names: [name ?? UntrustedText("user-\(user)"), UntrustedText("id-\(user)")],
      presence: [start * second..<end * second])
  }

  static func screen(of user: Int, from start: Int64 = 0, to end: Int64 = 100) -> LayoutTile {
    var tile = camera(user, from: start, to: end)
    (tile.stream, tile.isScreen) = (2, true)
    return tile
  }

  static func cameras(_ count: Int) -> [LayoutTile] { (0..<count).map { camera($0) } }

  /// All tiles are there; later ones came later.
  static func moment(of tiles: [LayoutTile], speaker: Int? = nil, lastSpeech: [Int: Int64] = [:]) -> LayoutMoment {
    var moment = LayoutMoment()
    moment.present = Array(tiles.indices)
    moment.appeared = moment.present
    for tile in moment.present { moment.arrivals[tile] = Int64(tile) }
    moment.speaker = speaker
    moment.lastSpeech = lastSpeech
    return moment
  }

  static func placements(
    _ choice: LayoutChoice, _ tiles: [LayoutTile], size: VideoSize = size, speaker: Int? = nil,
    lastSpeech: [Int: Int64] = [:]
  ) -> [TilePlacement] {
    Layout(choice, tiles: tiles, size: size).placements(
      at: moment(of: tiles, speaker: speaker, lastSpeech: lastSpeech))
  }
}

extension TilePlacement {
  /// The place as `x y width height`.
  var text: String { "\(x) \(y) \(width) \(height)" }

  func isInside(_ size: VideoSize) -> Bool {
    x >= 0 && y >= 0 && width > 0 && height > 0 && x + width <= size.width && y + height <= size.height
  }

  func overlaps(_ other: TilePlacement) -> Bool {
    x < other.x + other.width && other.x < x + width && y < other.y + other.height && other.y < y + height
  }

  var isEven: Bool { [x, y, width, height].allSatisfy { $0 % 2 == 0 } }
}
