import Glibc

/// The audio of one mark: a rising chirp, eight tones that encode a number, and a falling chirp.
///
/// | part | samples | what |
/// |---|---|---|
/// | chirp | 1,440 (30 ms) | 800 to 2,800 Hz |
/// | eight tones | 960 each (20 ms) | 800 Hz + 125 Hz × symbol |
/// | chirp | 1,440 (30 ms) | 2,800 to 800 Hz |
///
/// The eight symbols of four bits are a Reed-Solomon code word of one byte: two code words agree in at most one symbol,
/// so that three wrong symbols can be corrected.
enum PatternMark {
  static let chirpLength = 1_440
  static let toneLength = 960
  static let symbols = 8
  static let tones = 16
  static let length = 2 * chirpLength + symbols * toneLength

  static let lowestFrequency = 800.0
  static let toneDistance = 125.0
  static let highestFrequency = 2_800.0

  /// Returns the start of a symbol's tone, in samples from the mark's start.
  static func start(ofSymbol position: Int) -> Int { chirpLength + position * toneLength }

  /// The start of the second chirp, in samples from the mark's start.
  static let secondChirp = chirpLength + symbols * toneLength

  /// Returns the eight symbols of a number: high ⊕ low · αⁱ in GF(16) with x⁴ + x + 1, from the number's two halves.
  static func codeWord(_ number: UInt8) -> [Int] {
    var product = Int(number & 15)
    return (0..<symbols).map { _ in
      defer { product = product << 1 ^ (product & 8 == 0 ? 0 : 0b10011) }
      return Int(number >> 4) ^ product
    }
  }
}

/// The waveforms of a mark, at any sample rate.
enum Waveform {
  /// The duration of the fade at both ends of a chirp or tone, in seconds, which avoids clicks.
  private static let ramp = 0.002

  /// Returns a chirp through the frequencies of the marks.
  ///
  /// - Parameters:
  ///   - rate: samples per second.
  ///   - phase: the initial phase, in turns.
  static func chirp(rises: Bool, rate: Int, phase: Double = 0) -> [Float] {
    let count = PatternMark.chirpLength * rate / 48_000
    let duration = Double(count) / Double(rate)
    let from = rises ? PatternMark.lowestFrequency : PatternMark.highestFrequency
    let to = rises ? PatternMark.highestFrequency : PatternMark.lowestFrequency
    return wave(count: count, rate: rate) { time in phase + (from + (to - from) / duration * time / 2) * time }
  }

  /// Returns the tone of one symbol.
  static func tone(_ symbol: Int, rate: Int, phase: Double = 0) -> [Float] {
    let frequency = PatternMark.lowestFrequency + PatternMark.toneDistance * Double(symbol)
    return wave(count: PatternMark.toneLength * rate / 48_000, rate: rate) { time in phase + frequency * time }
  }

  /// Returns a sine wave with ramps at both ends.
  private static func wave(count: Int, rate: Int, turns: (Double) -> Double) -> [Float] {
    let ramp = Double(rate) * ramp
    return (0..<count).map { index in
      let fromEnd = Double(min(index, count - 1 - index)) + 0.5
      let swell = fromEnd < ramp ? 0.5 - 0.5 * cos(.pi * fromEnd / ramp) : 1
      return Float(swell * sin(2 * .pi * turns(Double(index) / Double(rate))))
    }
  }

  /// Returns one period of the hum at 48 kHz: 220 and 330 Hz.
  static func hum() -> [Float] {
    (0..<4_800).map { index in
      let time = Double(index) / 48_000
      return Float(0.5 * sin(2 * .pi * 220 * time) + 0.5 * sin(2 * .pi * 330 * time))
    }
  }
}
