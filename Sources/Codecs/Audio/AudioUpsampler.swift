import Glibc

/// Raises the rate of one channel by an integer factor: a polyphase filter with a delay of 8 input samples. A packet of N samples
/// always becomes one of N times the factor.
struct AudioUpsampler {
  /// The filter's length, in input samples.
  private static let taps = 16

  private let factor: Int
  /// For each output sample of an input sample: the weights of the newest `taps` input samples, the newest first.
  private let phases: [[Float]]
  /// The last input samples, the newest last.
  private var history = [Float](repeating: 0, count: taps - 1)

  /// - Parameter factor: at least 1.
  init(factor: Int) {
    self.factor = max(1, factor)
    let (factor, center) = (Double(self.factor), Double(Self.taps) / 2)
    phases = (0..<self.factor).map { phase in
      let weights = (0..<Self.taps).map { tap -> Double in
        // The distance between the output sample, 8 input samples ago, and the input sample.
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

  /// Returns `factor` times as many samples.
  mutating func raise(_ samples: [Float]) -> [Float] {
    let input = history + samples
    var output = [Float]()
    output.reserveCapacity(samples.count * factor)
    for index in samples.indices {
      for weights in phases {
        var sum: Float = 0
        for tap in 0..<Self.taps { sum += weights[tap] * input[index + Self.taps - 1 - tap] }
        output.append(sum)
      }
    }
    history = Array(input.suffix(Self.taps - 1))
    return output
  }
}
