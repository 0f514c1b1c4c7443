import Glibc

/// Raises the rate of one channel by an integer factor: a polyphase filter. A packet of N samples always becomes one of N times the
/// factor.
struct AudioUpsampler {
  /// The filter's length, in input samples.
  private let taps: Int
  private let factor: Int
  /// For each output sample of an input sample: the weights of the newest `taps` input samples, the newest first.
  private let phases: [[Float]]
  /// The last input samples, the newest last.
  private var history: [Float]

  /// - Parameters:
  ///   - factor: at least 1.
  ///   - delay: that of the filter in input samples, half its length: the longer, the steeper it is.
  init(factor: Int, delay: Int = 8) {
    self.factor = max(1, factor)
    let taps = 2 * max(1, delay)
    self.taps = taps
    history = [Float](repeating: 0, count: taps - 1)
    let (factor, center) = (Double(self.factor), Double(taps) / 2)
    phases = (0..<self.factor).map { phase in
      let weights = (0..<taps).map { tap -> Double in
        // The distance between the output sample, `delay` input samples ago, and the input sample.
        let distance = Double(tap) + Double(phase) / factor - center
        // The cutoff is a little below half the input rate.
        let angle = distance * Double.pi * 0.94
        let sinc = angle == 0 ? 1 : sin(angle) / angle
        let window = 0.5 + 0.5 * cos(distance / center * Double.pi)
        return abs(distance) < center ? sinc * window : 0
      }
      let sum = weights.reduce(0, +)
      return weights.map { Float($0 / sum) }
    }
  }

  /// The delay in output samples.
  var delay: Int { taps / 2 * factor }

  /// Returns `factor` times as many samples.
  mutating func raise(_ samples: [Float]) -> [Float] {
    let input = history + samples
    var output = [Float]()
    output.reserveCapacity(samples.count * factor)
    input.withUnsafeBufferPointer { input in
      for index in samples.indices {
        for weights in phases {
          weights.withUnsafeBufferPointer { weights in
            var sum: Float = 0
            for tap in 0..<taps { sum += weights[tap] * input[index + taps - 1 - tap] }
            output.append(sum)
          }
        }
      }
    }
    history = Array(input.suffix(taps - 1))
    return output
  }

  /// Returns the end of the last samples, ``delay`` output samples, and forgets them.
  mutating func drain() -> [Float] {
    let output = raise([Float](repeating: 0, count: taps / 2))
    history = [Float](repeating: 0, count: taps - 1)
    return output
  }
}
