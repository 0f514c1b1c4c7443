/// Assigns evenly paced positions by arrival time, for a track whose media clock is unusable.
///
/// Audio packets follow each other without a gap, unless the arrivals are well ahead. Video frames keep their usual
/// interval and follow the arrivals slowly, so that network jitter does not become jitter in the recording.
struct ArrivalPacer: Sendable {
  /// How far audio may lag behind its arrival before the difference becomes a gap.
  static let maximumLag = Duration.milliseconds(60)
  /// How far a video frame may be from its arrival before it is placed there directly.
  static let maximumError = Duration.milliseconds(250)
  /// The share of an error that is corrected with each frame, and the weight of a new interval.
  static let gain = 0.125

  /// The usual interval of video frames.
  private var spacing: Duration?

  /// Returns the position of the next frame.
  ///
  /// - Parameters:
  ///   - position: the position of the previous frame.
  ///   - target: the position according to the arrival alone.
  ///   - step: the time between the arrivals of the previous frame and this one.
  ///   - length: the playing time of the previous audio packet; nil for video.
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
