/// A wave to be looked for, whatever its phase: as a sine and as a cosine.
struct MatchedFilter: Sendable {
  let count: Int
  private let sine: [Float]
  private let cosine: [Float]
  private let energy: Float

  /// - Parameter wave: makes the wave with a phase in turns.
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

  /// How much of the energy of `count` samples the wave explains: 0 to 1; 0 where there is next to none.
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

  /// Whether next to nothing is to be heard in as many samples as the wave has.
  func isQuiet(_ samples: UnsafePointer<Float>) -> Bool {
    var power: Float = 0
    var index = 0
    while index < count {
      power += samples[index] * samples[index]
      index += 1
    }
    return power < Self.quiet * Float(count)
  }

  /// The mean square below which nothing is looked for: 64 dB below full scale.
  private static let quiet: Float = 4e-7
}
