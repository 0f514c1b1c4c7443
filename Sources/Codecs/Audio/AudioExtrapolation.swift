/// Conceals a loss in a codec that cannot: repeats the last 20 ms, ever quieter, until nothing is heard after 60 ms.
struct AudioExtrapolation {
  private static let repeated = AudioSamples.rate / 50
  private static let fade = AudioSamples.rate * 3 / 50

  private var last: [Float] = []
  /// The samples that were made since the last packet.
  private var made = 0

  /// Notes what was decoded: one channel at 48 kHz.
  mutating func note(_ samples: [Float]) {
    last = Array((last + samples).suffix(Self.repeated))
    made = 0
  }

  /// Returns samples that continue the last ones.
  mutating func conceal(_ count: Int) -> [Float] {
    let samples = (0..<max(0, count)).map { index -> Float in
      let position = made + index
      guard !last.isEmpty, position < Self.fade else { return 0 }
      return last[position % last.count] * (1 - Float(position) / Float(Self.fade))
    }
    made = min(made + samples.count, Self.fade)
    return samples
  }
}
