/// What a row of measurements of one offset says: a single wrong one changes nothing, jitter is smoothed, a slow drift is
/// followed, and a step that stays is taken over at once.
struct OffsetEstimator: Sendable {
  /// A difference that is more than the jitter of sender reports.
  static let step = Duration.milliseconds(40)

  private let gain: Double
  private var recent: [Duration] = []
  private var differing = 0
  /// The offset; nil before the first measurement.
  private(set) var value: Duration?

  /// - Parameter gain: the share of a new measurement.
  init(gain: Double) {
    self.gain = gain
  }

  mutating func add(_ offset: Duration) {
    if recent.count == 3 { recent.removeFirst() }
    recent.append(offset)
    guard let value, recent.count > 1 else {
      self.value = offset
      return
    }
    let middle = recent.count == 3 ? recent.sorted()[1] : value
    let difference = middle - value
    if difference > Self.step || difference < .zero - Self.step {
      differing += 1
      if differing >= 2 {
        self.value = middle
        differing = 0
      }
    } else {
      differing = 0
      self.value = value + difference * gain
    }
  }
}
