import Glibc

/// Raises the rate of one channel by an integer factor: a polyphase filter. A packet of N samples always becomes one of N times the
/// factor.
struct AudioUpsampler {
  /// The filter's length, in input samples.
  private let taps: Int
  private let factor: Int
  /// For each output sample of an input sample: the weights of the newest `taps` input samples, the newest last.
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
      return weights.reversed().map { Float($0 / sum) }
    }
  }

  /// The delay in output samples.
  var delay: Int { taps / 2 * factor }

  /// Returns `factor` times as many samples.
  mutating func raise(_ samples: [Float]) -> [Float] {
    let input = history + samples
    var output = [Float]()
    output.reserveCapacity(samples.count * factor)
    input.withUnsafeBytes { input in
      for index in samples.indices {
        for weights in phases {
          output.append(weights.withUnsafeBytes { product(of: $0, and: input, from: index) })
        }
      }
    }
    history = Array(input.suffix(taps - 1))
    return output
  }

  /// The sum of the products of all weights and as many input samples, eight at a time.
  private func product(
    of weights: UnsafeRawBufferPointer, and input: UnsafeRawBufferPointer, from index: Int
  ) -> Float {
    let stride = MemoryLayout<Float>.stride
    var sums = SIMD8<Float>.zero
    var tap = 0
    while tap + 8 <= taps {
      let weight = weights.loadUnaligned(fromByteOffset: tap * stride, as: SIMD8<Float>.self)
      sums += weight * input.loadUnaligned(fromByteOffset: (index + tap) * stride, as: SIMD8<Float>.self)
      tap += 8
    }
    var sum = sums.sum()
    while tap < taps {
      let weight = weights.loadUnaligned(fromByteOffset: tap * stride, as: Float.self)
      sum += weight * input.loadUnaligned(fromByteOffset: (index + tap) * stride, as: Float.self)
      tap += 1
    }
    return sum
  }

  /// Returns the end of the last samples, ``delay`` output samples, and forgets them.
  mutating func drain() -> [Float] {
    let output = raise([Float](repeating: 0, count: taps / 2))
    history = [Float](repeating: 0, count: taps - 1)
    return output
  }
}
