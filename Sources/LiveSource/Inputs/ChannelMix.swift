/// Mixes the channels of a file to one or two.
///
/// One channel stays one, two stay two. More are downmixed to stereo as in ITU-R BS.775 (centre and surround channels 3
/// dB lower on their sides), attenuated as a whole so that nothing can clip; the low-frequency channel is dropped. The
/// order of channels is that of WAV (WAVEFORMATEXTENSIBLE).
struct ChannelMix: Sendable, Hashable {
  let inputs: Int
  /// 1 or 2.
  let outputs: Int
  /// For each input channel, its gain in the left and the right output.
  private let shares: [(left: Float, right: Float)]

  static func == (one: ChannelMix, other: ChannelMix) -> Bool { one.inputs == other.inputs }

  func hash(into hasher: inout Hasher) { hasher.combine(inputs) }

  init(channels: Int) {
    inputs = max(1, channels)
    outputs = min(2, inputs)
    let middle = Float(0.5).squareRoot()
    var shares = Self.positions(inputs).map { position -> (left: Float, right: Float) in
      switch position {
      case .left: (1, 0)
      case .right: (0, 1)
      case .centre: (middle, middle)
      case .leftSurround: (middle, 0)
      case .rightSurround: (0, middle)
      case .lowFrequency: (0, 0)
      }
    }
    let loudest = max(shares.reduce(0) { $0 + $1.left }, shares.reduce(0) { $0 + $1.right })
    if inputs > 2, loudest > 0 { shares = shares.map { ($0.left / loudest, $0.right / loudest) } }
    self.shares = shares
  }

  /// Mixes whole sample frames. NaN becomes silence, and samples beyond full scale are clamped.
  func mix(_ samples: [Float]) -> [Float] {
    if inputs == outputs { return samples.map(Self.sanitized) }
    var output: [Float] = []
    output.reserveCapacity(samples.count / inputs * 2)
    for frame in stride(from: 0, to: samples.count - inputs + 1, by: inputs) {
      var (left, right): (Float, Float) = (0, 0)
      for channel in 0..<inputs {
        let value = Self.sanitized(samples[frame + channel])
        left += value * shares[channel].left
        right += value * shares[channel].right
      }
      output.append(left)
      output.append(right)
    }
    return output
  }

  private static func sanitized(_ value: Float) -> Float {
    value.isNaN ? 0 : min(1, max(-1, value))
  }

  private enum Speaker {
    case left, right, centre, lowFrequency, leftSurround, rightSurround
  }

  private static func positions(_ channels: Int) -> [Speaker] {
    switch channels {
    case 1: [.centre]
    case 2: [.left, .right]
    case 3: [.left, .right, .centre]
    case 4: [.left, .right, .leftSurround, .rightSurround]
    case 5: [.left, .right, .centre, .leftSurround, .rightSurround]
    case 6: [.left, .right, .centre, .lowFrequency, .leftSurround, .rightSurround]
    case 7: [.left, .right, .centre, .lowFrequency, .centre, .leftSurround, .rightSurround]
    case 8: [.left, .right, .centre, .lowFrequency, .leftSurround, .rightSurround, .leftSurround, .rightSurround]
    default: (0..<channels).map { $0.isMultiple(of: 2) ? .left : .right }
    }
  }
}
