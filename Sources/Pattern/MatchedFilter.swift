import Glibc

/// A filter that detects a wave at any phase, by correlating with its sine and its cosine.
struct MatchedFilter: Sendable {
  let count: Int
  private let sine: [Float]
  private let cosine: [Float]
  private let energy: Float

  /// Creates the filter of a wave.
  ///
  /// - Parameter wave: returns the wave for a phase in turns.
  init(_ wave: (_ phase: Double) -> [Float]) {
    sine = wave(0)
    cosine = wave(0.25)
    count = sine.count
    energy = sine.reduce(0) { $0 + $1 * $1 }
  }

  static let rising = MatchedFilter { Waveform.chirp(rises: true, rate: PatternFilter.rate, phase: $0) }
  static let falling = MatchedFilter { Waveform.chirp(rises: false, rate: PatternFilter.rate, phase: $0) }
  static let tones = (0..<PatternMark.tones).map { symbol in
    MatchedFilter { Waveform.tone(symbol, rate: PatternFilter.rate, phase: $0) }
  }

  /// Returns the share of the energy of `count` samples that the wave explains: 0 to 1; 0 for near silence.
  func likeness(to samples: UnsafePointer<Float>) -> Float {
    var inPhase: Float = 0
    var acrossPhase: Float = 0
    var power: Float = 0
    sine.withUnsafeBufferPointer { sine in
      cosine.withUnsafeBufferPointer { cosine in
        var index = 0
        while index < count {
          let sample = samples[index]
          inPhase += sine[index] * sample
          acrossPhase += cosine[index] * sample
          power += sample * sample
          index += 1
        }
      }
    }
    if power < Self.quiet * Float(count) { return 0 }
    return (inPhase * inPhase + acrossPhase * acrossPhase) / (power * energy)
  }

  /// Whether as many samples as the wave has are nearly silent.
  func isQuiet(_ samples: UnsafePointer<Float>) -> Bool {
    var power: Float = 0
    var index = 0
    while index < count {
      power += samples[index] * samples[index]
      index += 1
    }
    return power < Self.quiet * Float(count)
  }

  /// The mean square below which audio is not searched: 64 dB below full scale.
  private static let quiet: Float = 4e-7
}

/// Resamples audio from 48 kHz to 8 kHz and keeps only the frequencies of the marks.
struct PatternFilter: Sendable {
  static let factor = 6
  static let rate = 8_000
  /// The number of samples needed before the filtered one, and after it.
  static let halfLength = 120

  /// The weights of a windowed band-pass, which removes the hum below the marks and everything above them.
  private let weights: [Float]

  init() {
    let (low, high) = (570.0 / 48_000, 3_030.0 / 48_000)
    func sinc(_ value: Double) -> Double { value == 0 ? 1 : sin(.pi * value) / (.pi * value) }
    weights = (-Self.halfLength...Self.halfLength).map { index in
      let position = Double(index)
      let band = 2 * high * sinc(2 * high * position) - 2 * low * sinc(2 * low * position)
      return Float(band * (0.54 + 0.46 * cos(.pi * position / Double(Self.halfLength))))
    }
  }

  /// Returns the filtered sample in the middle of `2 * halfLength + 1` samples that begin at `start`.
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
