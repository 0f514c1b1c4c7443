package import Codecs
package import Media

/// Paints the test pattern: a code for programs, a clock for people, and colours and movement for encoders.
///
/// The layout is described in `docs/pattern.md`, so that programs in other languages can read it.
package struct PatternPainter: Sendable {
  package let size: VideoSize
  package let streamID: UInt16
  let layout: PatternLayout
  /// The part that is the same in every frame.
  private let scene: VideoFrame
  let grain: PatternNoise

  /// Creates a painter.
  ///
  /// - Parameters:
  ///   - size: the size of the frames; the code can be read from 160x120 upwards.
  ///   - streamID: distinguishes several patterns.
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

  /// Returns one frame.
  ///
  /// - Parameters:
  ///   - frame: its number, one more than that of the previous frame.
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
    // A margin of one dot surrounds it.
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

/// The characters of the clock, five dots wide and seven dots high.
enum PatternFont {
  static let columns = 5
  static let rows = 7

  /// Returns the width of a text in dots, with one dot between characters.
  static func width(of characters: Int) -> Int { characters * (columns + 1) - 1 }

  /// Returns the dots of each row, the leftmost in bit 4. Character 10 is a colon, 11 a point.
  static func lines(of character: Int) -> [UInt8] {
    glyphs.indices.contains(character) ? glyphs[character] : []
  }

  /// Returns the time of day in UTC as hours, minutes, seconds and tenths, for example 12:34:56.7. More digits would
  /// change with every frame and cost an encoder more than the code does.
  ///
  /// - Parameter time: milliseconds since 1970.
  static func clock(_ time: UInt64) -> [Int] {
    let seconds = Int(time / 1_000 % 86_400)
    func two(_ number: Int) -> [Int] { [number / 10, number % 10] }
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60)
    return two(hours) + [colon] + two(minutes) + [colon] + two(seconds % 60) + [point]
      + [Int(time % 1_000) / 100]
  }

  private static let colon = 10
  private static let point = 11

  private static let glyphs: [[UInt8]] = [
    [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110],
    [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
    [0b01110, 0b10001, 0b00001, 0b00010, 0b00100, 0b01000, 0b11111],
    [0b11111, 0b00010, 0b00100, 0b00010, 0b00001, 0b10001, 0b01110],
    [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010],
    [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110],
    [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110],
    [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000],
    [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110],
    [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100],
    [0b00000, 0b00100, 0b00100, 0b00000, 0b00100, 0b00100, 0b00000],
    [0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b01100, 0b01100],
  ]
}

/// Fine noise like film grain: an encoder with spare bitrate can spend it here, and the noise disappears when bitrate
/// is short.
struct PatternNoise: Sendable {
  /// The mean luma of the noise.
  static let luma: UInt8 = 104
  /// The maximum difference from the mean.
  private static let depth: UInt64 = 8
  /// The number of positions from which a line can be taken.
  private static let positions: UInt64 = 4_093

  private let noise: [UInt8]

  /// Creates the noise.
  ///
  /// - Parameter width: the width of the widest line.
  init(width: Int) {
    noise = (0..<width + Int(Self.positions)).map { index in
      Self.luma - UInt8(Self.depth) + UInt8(Self.mixed(UInt64(index)) % (2 * Self.depth + 1))
    }
  }

  /// Calls `body` with one line of one frame; every line of every frame differs.
  func withLine(_ line: Int, frame: UInt32, _ body: (UnsafePointer<UInt8>) -> Void) {
    let position = Int(Self.mixed(UInt64(frame) << 20 ^ UInt64(truncatingIfNeeded: line)) % Self.positions)
    noise.withUnsafeBufferPointer { noise in
      if let start = noise.baseAddress { body(start + position) }
    }
  }

  /// Returns a pseudorandom number for a number (SplitMix64): always the same, without a visible pattern.
  private static func mixed(_ value: UInt64) -> UInt64 {
    var mixed = value &+ 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}
