/// Decoded audio: interleaved samples at 48 kHz, each from -1 to 1.
package struct AudioSamples: Sendable, Hashable {
  package static let rate = 48_000

  package var samples: [Float]
  package let channels: Int

  /// - Parameters:
  ///   - samples: interleaved, one sample for each channel in turn.
  ///   - channels: 1 or 2.
  package init(samples: [Float], channels: Int) {
    self.samples = samples
    self.channels = max(1, channels)
  }

  /// The number of samples in each channel, which is also the length in ticks of 48 kHz.
  package var count: Int { samples.count / channels }

  /// The root mean square of all samples: 0 is silence, 0.707 a full-scale sine.
  package var level: Double {
    if samples.isEmpty { return 0 }
    let sum = samples.reduce(0.0) { $0 + Double($1) * Double($1) }
    return (sum / Double(samples.count)).squareRoot()
  }
}
