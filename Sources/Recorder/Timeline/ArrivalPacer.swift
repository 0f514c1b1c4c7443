/// Makes an even pace of arrivals, for a track whose media clock tells nothing.
///
/// Audio continues packet after packet, and leaves a hole only where the arrivals are well ahead of it. Frames keep their
/// usual distance and follow the arrivals slowly, so that jitter on the line does not become jitter in the recording.
struct ArrivalPacer: Sendable {
  /// How far audio may be behind its arrival before that is treated as a hole.
  static let maximumLag = Duration.milliseconds(60)
  /// How far a frame may be from its arrival before it is put there at once.
  static let maximumError = Duration.milliseconds(250)
  /// The share of an error that is made good with each frame, and of a new distance that is trusted.
  static let gain = 0.125

  /// The usual distance of two frames.
  private var spacing: Duration?

  /// The place of the next frame.
  ///
  /// - Parameters:
  ///   - position: of the frame before.
  ///   - target: where its arrival alone would put it.
  ///   - step: how long after the frame before it arrived.
  ///   - length: how long the frame before is heard; nil for frames.
  mutating func next(
    after position: Duration, target: Duration, step: Duration, length: Duration?
  ) -> Duration {
    if let length {
      let end = position + length
      return target - end > Self.maximumLag ? target : end
    }
    let measured = min(max(step, .zero), .seconds(1))
    let spacing = self.spacing.map { $0 + (measured - $0) * Self.gain } ?? measured
    self.spacing = spacing
    let expected = position + spacing
    let error = target - expected
    if error > Self.maximumError { return target }
    if error < .zero - Self.maximumError { return position + spacing * 0.5 }
    return max(position, expected + error * Self.gain)
  }
}
