import Glibc

/// The waveforms that a mark is made of, at any rate of samples.
enum Waveform {
  /// How long a chirp or a tone swells and dies away, in seconds, so that nothing clicks.
  private static let ramp = 0.002

  /// A chirp through the marks' frequencies.
  ///
  /// - Parameters:
  ///   - rate: samples a second.
  ///   - phase: where its wave begins, in turns.
  static func chirp(rises: Bool, rate: Int, phase: Double = 0) -> [Float] {
    let count = PatternMark.chirpLength * rate / 48_000
    let duration = Double(count) / Double(rate)
    let from = rises ? PatternMark.lowestFrequency : PatternMark.highestFrequency
    let to = rises ? PatternMark.highestFrequency : PatternMark.lowestFrequency
    return wave(count: count, rate: rate) { time in phase + (from + (to - from) / duration * time / 2) * time }
  }

  /// The tone of one symbol.
  static func tone(_ symbol: Int, rate: Int, phase: Double = 0) -> [Float] {
    let frequency = PatternMark.lowestFrequency + PatternMark.toneDistance * Double(symbol)
    return wave(count: PatternMark.toneLength * rate / 48_000, rate: rate) { time in phase + frequency * time }
  }

  /// A sine with ramps at both ends.
  private static func wave(count: Int, rate: Int, turns: (Double) -> Double) -> [Float] {
    let ramp = Double(rate) * ramp
    return (0..<count).map { index in
      let fromEnd = Double(min(index, count - 1 - index)) + 0.5
      let swell = fromEnd < ramp ? 0.5 - 0.5 * cos(.pi * fromEnd / ramp) : 1
      return Float(swell * sin(2 * .pi * turns(Double(index) / Double(rate))))
    }
  }

  /// One period of the hum at 48 kHz: 220 and 330 Hz.
  static func hum() -> [Float] {
    (0..<4_800).map { index in
      let time = Double(index) / 48_000
      return Float(0.5 * sin(2 * .pi * 220 * time) + 0.5 * sin(2 * .pi * 330 * time))
    }
  }
}
