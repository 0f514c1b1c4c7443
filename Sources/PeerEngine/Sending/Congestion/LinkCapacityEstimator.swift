/// What the line took whenever it was full, and how much that varied (libwebrtc's LinkCapacityEstimator): near there the
/// rate is raised with care.
package struct LinkCapacityEstimator: Sendable {
  private static let smoothing = 0.05

  /// Kilobits a second.
  private var mean: Double?
  /// Relative to the mean.
  private var variance = 0.4

  package init() {}

  /// Bits a second; nil while the line has not been full.
  package var estimate: Double? { mean.map { $0 * 1_000 } }

  /// Where it can be, within three standard deviations.
  package var range: ClosedRange<Double>? {
    guard let mean else { return nil }
    let margin = 3 * (variance * mean).squareRoot()
    return max(0, mean - margin) * 1_000...(mean + margin) * 1_000
  }

  /// The line was full, and so much went through.
  package mutating func wasFull(at bitrate: Double) {
    let sample = bitrate / 1_000
    let next = mean.map { $0 * (1 - Self.smoothing) + sample * Self.smoothing } ?? sample
    mean = next
    let error = next - sample
    variance = variance * (1 - Self.smoothing) + Self.smoothing * error * error / max(next, 1)
    variance = min(max(variance, 0.4), 2.5)
  }

  /// The line has become another one.
  package mutating func reset() { mean = nil }
}
