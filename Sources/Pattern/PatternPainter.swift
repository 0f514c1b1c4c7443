package import Codecs
package import Media

/// Paints the test image: a code for programs, a clock for people, colours and movement for encoders.
///
/// The layout is described in `docs/pattern.md`, so that programs in other languages can read it.
package struct PatternPainter: Sendable {
  package let size: VideoSize
  package let streamID: UInt16
  let layout: PatternLayout
  /// What is the same in every frame.
  private let scene: VideoFrame
  let grain: PatternNoise

  /// - Parameters:
  ///   - size: the code can be read from 160x120 upwards.
  ///   - streamID: tells several patterns apart.
  package init(size: VideoSize, streamID: UInt16 = 0) {
    let empty = VideoFrame(size: size, luma: Self.black)
    self.size = empty.size
    self.streamID = streamID
    layout = PatternLayout(size: empty.size)
    grain = PatternNoise(width: empty.size.width)
    scene = Self.scene(on: empty, layout: layout)
  }

  /// Black and white of code, clock and ruler, as luma.
  static let black: UInt8 = 24
  static let white: UInt8 = 224

  /// One frame.
  ///
  /// - Parameters:
  ///   - frame: its number, one more than that of the frame before.
  ///   - time: when it is shown by the sender's clock, in milliseconds since 1970.
  package func videoFrame(frame: UInt32, time: UInt64) -> VideoFrame {
    var videoFrame = scene
    let reading = PatternReading(streamID: streamID, frameNumber: frame, time: time)
    videoFrame.withCanvas { canvas in
      paintScenery(on: canvas, frame: frame, time: reading.time)
      paintClock(on: canvas, time: reading.time)
      paintCode(reading.bytes, on: canvas)
    }
    return videoFrame
  }

  private func paintCode(_ bytes: [UInt8], on canvas: PatternCanvas) {
    for (index, byte) in bytes.enumerated() {
      for bit in 0..<8 where byte >> (7 - bit) & 1 == 1 {
        canvas.fill(layout.codeCell(index * 8 + bit), luma: Self.white)
      }
    }
  }

  private func paintClock(on canvas: PatternCanvas, time: UInt64) {
    let text = PatternFont.clock(time)
    let panel = layout.box(quarterColumns: 0..<80, quarterRows: 96..<116)
    let width = PatternFont.width(of: text.count)
    // A space as wide as a dot is left around it.
    let dot = min(panel.columns.count / (width + 2), panel.rows.count / (PatternFont.rows + 2))
    if dot < 1 { return }
    let left = panel.columns.lowerBound + (panel.columns.count - width * dot) / 2
    let top = panel.rows.lowerBound + (panel.rows.count - PatternFont.rows * dot) / 2
    canvas.fill(
      PatternLayout.Box(
        columns: left - dot..<left + (width + 1) * dot, rows: top - dot..<top + (PatternFont.rows + 1) * dot),
      luma: Self.black)
    for (index, character) in text.enumerated() {
      for (row, line) in PatternFont.lines(of: character).enumerated() {
        for column in 0..<PatternFont.columns where line >> (PatternFont.columns - 1 - column) & 1 == 1 {
          let x = left + (index * (PatternFont.columns + 1) + column) * dot
          let y = top + row * dot
          canvas.fill(PatternLayout.Box(columns: x..<x + dot, rows: y..<y + dot), luma: Self.white)
        }
      }
    }
  }
}
