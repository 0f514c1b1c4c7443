import Glibc

/// Takes audio of 48 kHz down to 8 kHz and leaves only the frequencies of the marks.
struct PatternFilter: Sendable {
  static let factor = 6
  static let rate = 8_000
  /// How many samples are needed before and after the one that is made.
  static let connectionSettings = 120

  /// A windowed band-pass: the hum below the marks goes, and so does what lies above them.
  private let weights: [Float]

  init() {
    let (low, high) = (570.0 / 48_000, 3_030.0 / 48_000)
    func sinc(_ value: Double) -> Double { value == 0 ? 1 : sin(.pi * value) / (.pi * value) }
    weights = (-Self.connectionSettings...Self.connectionSettings).map { index in
      let position = Double(index)
      let band = 2 * high * sinc(2 * high * position) - 2 * low * sinc(2 * low * position)
      return Float(band * (0.54 + 0.46 * cos(.pi * position / Double(Self.connectionSettings))))
    }
  }

  /// The filtered sample in the middle of `2 * connectionSettings + 1` samples that begin at `start`.
  func sample(_ start: UnsafePointer<Float>) -> Float {
    weights.withUnsafeBufferPointer { weights in
      var sum: Float = 0
      var index = 0
      while index < weights.count {
        sum += weights[index] * start[index]
        index += 1
      }
      return sum
    }
  }
}
