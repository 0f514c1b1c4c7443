internal import Composition
internal import Media

/// Which part of a frame is shown where in a tile.
struct FrameFitting: Sendable, Hashable {
  /// Of the frame, in its pixels.
  let part: CanvasBox
  /// Of the canvas; inside the tile, and even.
  let target: CanvasBox

  /// The sides of frames that can be scaled.
  static let sides = 2...16_383

  /// - Parameter tile: at even places, with even sides of 2 to 16383.
  /// - Returns: nil for a frame that cannot be scaled.
  init?(_ frame: VideoSize, into tile: CanvasBox, _ fit: TileFit) {
    guard Self.sides.contains(frame.width), Self.sides.contains(frame.height) else { return nil }
    // Of the two, the greater one is relatively larger in the frame than in the tile.
    let (wide, high) = (frame.width * tile.height, frame.height * tile.width)
    switch fit {
    case .contain:
      part = CanvasBox(x: 0, y: 0, width: frame.width, height: frame.height)
      let width = wide > high ? tile.width : Self.even(wide, dividedBy: frame.height, upTo: tile.width)
      let height = wide > high ? Self.even(high, dividedBy: frame.width, upTo: tile.height) : tile.height
      target = CanvasBox(
        x: tile.x + (tile.width - width) / 4 * 2, y: tile.y + (tile.height - height) / 4 * 2, width: width,
        height: height)
    case .cover:
      let width = wide > high ? Self.even(high, dividedBy: tile.height, upTo: frame.width) : frame.width
      let height = wide > high ? frame.height : Self.even(wide, dividedBy: tile.width, upTo: frame.height)
      part = CanvasBox(
        x: (frame.width - width) / 4 * 2, y: (frame.height - height) / 4 * 2, width: width, height: height)
      target = tile
    }
  }

  /// Rounds a quotient to the nearest even number, at least 2.
  private static func even(_ value: Int, dividedBy divisor: Int, upTo limit: Int) -> Int {
    max(2, min((value + divisor) / (2 * divisor) * 2, limit))
  }
}
