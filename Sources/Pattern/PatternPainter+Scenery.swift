import Codecs
import Media

extension PatternPainter {
  /// The eight colour bars at 75 % (ITU-R BT.601), from the left.
  private static let bars: [PatternCanvas.Colour] = [
    .init(luma: 180, blue: 128, red: 128), .init(luma: 162, blue: 44, red: 142),
    .init(luma: 131, blue: 156, red: 44), .init(luma: 112, blue: 72, red: 58),
    .init(luma: 84, blue: 184, red: 198), .init(luma: 65, blue: 100, red: 212),
    .init(luma: 35, blue: 212, red: 114), .init(luma: 16, blue: 128, red: 128),
  ]
  private static let orange = PatternCanvas.Colour(luma: 150, blue: 60, red: 190)
  private static let teal = PatternCanvas.Colour(luma: 140, blue: 150, red: 80)
  private static let lampOn = PatternCanvas.Colour(luma: 235, blue: 128, red: 128)
  private static let lampOff = PatternCanvas.Colour(luma: 40, blue: 128, red: 128)

  /// How long the lamp is lit at the start of each second, in milliseconds.
  static let flash: UInt64 = 120

  /// Returns the part that is the same in every frame: bars, reference cells and ruler.
  static func scene(on empty: VideoFrame, layout: PatternLayout) -> VideoFrame {
    var scene = empty
    scene.withCanvas { canvas in
      paintBars(on: canvas, layout: layout)
      for index in 0..<PatternLayout.cellsInLine where PatternLayout.reference >> (15 - index) & 1 == 1 {
        canvas.fill(layout.referenceCell(index), luma: white)
      }
      // The ruler is light and dark up to the edge, so that a reader can distinguish the pattern from black bars around
      // it.
      for column in stride(from: 1, to: PatternLayout.columns, by: 2) {
        canvas.fill(layout.box(columns: column..<column + 1, rows: 29..<30), luma: white)
      }
    }
    return scene
  }

  /// Paints bars that fade into each other over a fifth of their width. An encoder's loop filter would blur hard edges
  /// in every frame, and they would have to be sent again in every frame.
  private static func paintBars(on canvas: PatternCanvas, layout: PatternLayout) {
    for (index, bar) in bars.enumerated() {
      canvas.fill(layout.box(quarterColumns: index * 10..<index * 10 + 10, quarterRows: 0..<16), bar)
    }
    for (index, (bar, next)) in zip(bars, bars.dropFirst()).enumerated() {
      let fade = layout.box(quarterColumns: index * 10 + 9..<index * 10 + 11, quarterRows: 0..<16)
      // Columns are painted in pairs, because the colour planes have half the columns.
      for column in stride(from: fade.columns.lowerBound / 2 * 2, to: fade.columns.upperBound, by: 2) {
        let share = Double(column + 1 - fade.columns.lowerBound) / Double(fade.columns.count)
        canvas.fill(
          PatternLayout.Box(columns: column..<column + 2, rows: fade.rows), bar.mixed(with: next, share: share))
      }
    }
  }

  /// Paints the moving parts: noise, two blocks that move up and down, and the lamp that flashes with each audio mark.
  func paintScenery(on canvas: PatternCanvas, frame: UInt32, time: UInt64) {
    let leftMargin = layout.box(quarterColumns: 0..<6, quarterRows: 16..<96)
    let rightMargin = layout.box(quarterColumns: 74..<80, quarterRows: 16..<96)
    canvas.fill(leftMargin, grain, frame: frame)
    canvas.fill(rightMargin, grain, frame: frame)
    canvas.fill(layout.box(quarterColumns: 0..<80, quarterRows: 96..<116), grain, frame: frame)
    paintLift(Self.orange, in: leftMargin, position: swing(time, period: 4_000), on: canvas)
    let shaft = layout.box(quarterColumns: 74..<80, quarterRows: 28..<96)
    paintLift(Self.teal, in: shaft, position: swing(time, period: 3_000), on: canvas)
    canvas.fill(
      layout.box(quarterColumns: 74..<80, quarterRows: 16..<28), time % 1_000 < Self.flash ? Self.lampOn : Self.lampOff)
  }

  /// Paints a square block at a position from 0 (top) to 1,000 (bottom) of its shaft.
  private func paintLift(
    _ colour: PatternCanvas.Colour, in shaft: PatternLayout.Box, position: Int, on canvas: PatternCanvas
  ) {
    let height = min(shaft.columns.count, shaft.rows.count)
    // An even row, so that the colour planes, which have half the rows, move with it.
    let top = shaft.rows.lowerBound + (shaft.rows.count - height) * position / 1_000 / 2 * 2
    canvas.fill(PatternLayout.Box(columns: shaft.columns, rows: top..<top + height), colour)
  }

  /// Returns a triangle wave between 0 and 1,000.
  private func swing(_ time: UInt64, period: UInt64) -> Int {
    let position = Int(time % period * 2_000 / period)
    return position <= 1_000 ? position : 2_000 - position
  }
}
