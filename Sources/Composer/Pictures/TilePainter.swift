internal import Codecs
package import Composition
internal import Media
package import TextDrawing

/// Paints output frames: fits the frames of tiles into their places, and draws names, signs and a clock over them.
///
/// The canvas keeps what was painted. A tile is painted again only if something of it changed, or something below it.
package final class TilePainter {
  package let canvas: Canvas
  private let fit: TileFit
  private var masks: MaskCache
  private var painted: [PaintedTile.Appearance] = []
  /// Whether places cover each other.
  private var hasOverlaps = false
  private var clock: String?
  private var clockBox: CanvasBox?

  /// How many tiles were painted so far, for tests and figures.
  package private(set) var paintedTiles = 0

  /// - Parameters:
  ///   - fit: for placements that do not say theirs.
  ///   - text: nil to draw neither names nor initials nor a clock.
  package init(canvas: Canvas, fit: TileFit = .contain, text: TextDrawer?) {
    (self.canvas, self.fit) = (canvas, fit)
    masks = MaskCache(text)
  }

  /// Paints an output frame.
  ///
  /// - Parameters:
  ///   - tiles: in the order to paint: a later one covers an earlier one. Those outside of the canvas or at odd places are
  ///     left out.
  ///   - clock: the text at the upper right; nil for none.
  /// - Returns: whether anything is different from the output frame before.
  @discardableResult
  package func paint(_ tiles: [PaintedTile], clock: String? = nil) -> Bool {
    let tiles = tiles.filter { $0.look != .hidden && isPaintable($0.box) }
    let appearances = tiles.map(\.appearance)
    let clockBox = clock.flatMap { box(ofClock: $0) }
    let isNew =
      clockBox != self.clockBox || !appearances.elementsEqual(painted) { $0.placement == $1.placement }
    var changed: [Bool]
    if isNew {
      canvas.fill(canvas.box, .black)
      changed = [Bool](repeating: true, count: tiles.count)
      hasOverlaps = Self.hasOverlaps(tiles)
    } else {
      changed = zip(appearances, painted).map { $0 != $1 }
      if hasOverlaps { Self.spread(&changed, tiles) }
    }
    painted = appearances
    for (index, tile) in tiles.enumerated() where changed[index] { paint(tile) }

    let isClockNew = isNew || clock != self.clock
    if let clock, let clockBox {
      let isCovered = zip(tiles, changed).contains { $1 && $0.box.intersection(clockBox) != nil }
      if isClockNew || isCovered { paint(clock: clock, in: clockBox) }
    }
    (self.clock, self.clockBox) = (clock, clockBox)
    return isNew || isClockNew || changed.contains(true)
  }

  private func isPaintable(_ box: CanvasBox) -> Bool {
    box.isInside(width: canvas.size.width, height: canvas.size.height)
      && (box.x | box.y | box.width | box.height) & 1 == 0
  }

  private static func hasOverlaps(_ tiles: [PaintedTile]) -> Bool {
    tiles.indices.contains { one in tiles[..<one].contains { $0.box.intersection(tiles[one].box) != nil } }
  }

  /// What lies above a tile that is painted again must be painted again.
  private static func spread(_ changed: inout [Bool], _ tiles: [PaintedTile]) {
    for upper in tiles.indices where !changed[upper] {
      changed[upper] = (0..<upper).contains { changed[$0] && tiles[$0].box.intersection(tiles[upper].box) != nil }
    }
  }
}

// MARK: - One tile

extension TilePainter {
  private func paint(_ tile: PaintedTile) {
    paintedTiles += 1
    let (box, look) = (tile.box, tile.look)
    if look != .nameTile, let frame = tile.frame, paint(frame, into: box, tile.placement.fit ?? fit) {
      switch look {
      case .dimmed:
        canvas.shade(box, share: 128)
        paintSign(in: box)
      case .reconnecting:
        canvas.shade(box, share: 128)
        paintNotice("reconnecting", in: box)
      case .frame, .hidden, .nameTile: break
      }
    } else {
      paintInitials(tile, in: box)
    }
    if let name = tile.name { paint(name: name, in: box) }
    if tile.isSpeaking {
      let thickness = Self.even(min(box.width, box.height) / 80, within: 2...8)
      if box.width > 2 * thickness, box.height > 2 * thickness {
        canvas.fill(box, around: box.inset(thickness), .speech)
      }
    }
  }

  /// Returns false for a frame that cannot be drawn.
  private func paint(_ frame: TileFrame, into box: CanvasBox, _ fit: TileFit) -> Bool {
    guard let fitting = FrameFitting(frame.image.size, into: box, fit),
      canvas.draw(frame.image, part: fitting.part, into: fitting.target)
    else { return false }
    canvas.fill(box, around: fitting.target, .black)
    return true
  }

  private func paintInitials(_ tile: PaintedTile, in box: CanvasBox) {
    let colour = CanvasColour(id: tile.id)
    canvas.fill(box, colour.dark)
    let diameter = Self.even(min(box.width, box.height) / 2, within: 2...1_024)
    paint(masks.disc(diameter: diameter), centredIn: box, colour, clip: box)
    let text = masks.initials(
      Initials.text(of: tile.label), size: max(8, diameter * 2 / 5), maximumWidth: max(2, diameter * 3 / 4))
    paint(text, centredIn: box, .white, clip: box)
  }

  private func paintSign(in box: CanvasBox) {
    let side = Self.even(min(box.width, box.height) / 9, within: 16...96)
    let margin = Self.even(side / 2, within: 4...32)
    canvas.blend(masks.warning(side: side), x: box.x + margin, y: box.y + margin, .warning, clip: box)
  }

  private func paintNotice(_ text: String, in box: CanvasBox) {
    let size = min(max(12, box.height / 14), 64)
    let mask = masks.text(text, size: size, maximumWidth: max(1, box.width - 2 * size))
    if mask.coverage.isEmpty { return paintSign(in: box) }
    let frame = CanvasBox(
      x: (box.x + (box.width - mask.width) / 2 - size / 2) & ~1,
      y: (box.y + (box.height - mask.height) / 2 - size / 4) & ~1,
      width: (mask.width + size / 2 * 2 + 1) & ~1, height: (mask.height + size / 4 * 2 + 1) & ~1)
    if let frame = frame.intersection(box) { canvas.shade(frame, share: 96) }
    paint(mask, centredIn: box, .white, clip: box)
  }

  /// Draws the name at the lower left, on what is below it, darkened.
  private func paint(name: String, in box: CanvasBox) {
    let size = Self.labelSize(box)
    let padding = Self.even(size / 3, within: 4...16)
    let margin = Self.even(size / 3, within: 4...16)
    let mask = masks.text(name, size: size, maximumWidth: max(size, box.width - 2 * (padding + margin)))
    guard mask.width > 0 else { return }
    let height = (mask.height + 1) & ~1
    let frame = CanvasBox(
      x: box.x + margin, y: box.y + box.height - margin - height, width: (mask.width + 2 * padding + 1) & ~1,
      height: height)
    guard let visible = frame.intersection(box) else { return }
    canvas.shade(visible, share: 72)
    canvas.blend(mask, x: frame.x + padding, y: frame.y, .white, clip: box)
  }

  /// The size of names, in pixels: at least 12.
  static func labelSize(_ box: CanvasBox) -> Int { max(12, min(box.height / 20, 8 + box.height / 36)) }

  private func paint(_ mask: CoverageMask, centredIn box: CanvasBox, _ colour: CanvasColour, clip: CanvasBox) {
    canvas.blend(
      mask, x: box.x + (box.width - mask.width) / 2, y: box.y + (box.height - mask.height) / 2, colour, clip: clip)
  }

  private var clockSize: Int { min(max(12, canvas.size.height / 36), 64) }

  /// Where a clock is: as wide as it can be with other digits, so that it stays in its place. Nil if it cannot be drawn.
  private func box(ofClock clock: String) -> CanvasBox? {
    let width = masks.widestDigits(of: clock, size: clockSize, maximumWidth: canvas.size.width)
    let height = masks.text(clock, size: clockSize, maximumWidth: canvas.size.width).height
    guard width > 0, height > 0 else { return nil }
    let padding = clockPadding
    let whole = (width + 2 * padding + 1) & ~1
    return CanvasBox(
      x: max(0, canvas.size.width - padding - whole), y: padding, width: whole, height: (height + 1) & ~1)
  }

  private var clockPadding: Int { Self.even(clockSize / 3, within: 2...20) }

  private func paint(clock: String, in box: CanvasBox) {
    canvas.fill(box, CanvasColour(luma: 32, blue: 128, red: 128))
    let mask = masks.text(clock, size: clockSize, maximumWidth: canvas.size.width)
    canvas.blend(mask, x: box.x + clockPadding, y: box.y, .white, clip: box)
  }

  private static func even(_ value: Int, within range: ClosedRange<Int>) -> Int {
    min(max(range.lowerBound, value), range.upperBound) & ~1
  }
}
