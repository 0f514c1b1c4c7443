/// The stretches of a track in which something was wrong, or not to be heard or seen.
public struct IntervalSummary: Sendable, Hashable, Codable {
  /// How many there were.
  public var count = 0
  /// Seconds in all.
  public var total = 0.0
  /// The longest, in seconds; 0 when there was none.
  public var longest = 0.0
  /// Of the time that the track lasted, 0 to 1.
  public var ratio = 0.0
  /// Each of them in order, the first 200; the longest is always among them.
  public var list: [Interval] = []

  public init() {}

  /// The longest with its place.
  public var worst: Interval? { list.max { ($0.duration, $1.start) < ($1.duration, $0.start) } }
}

/// One stretch of time.
public struct Interval: Sendable, Hashable, Codable {
  public var start: Double
  public var duration: Double
  /// Why, where that is known: one of ``FreezeReason`` for a freeze, one of ``AudioGapReason`` for a hole in the audio.
  public var reason: String?

  package init(start: Double, duration: Double, reason: String? = nil) {
    self.start = start
    self.duration = duration
    self.reason = reason
  }
}

/// How the measurements of one thing are spread.
public struct Spread: Sendable, Hashable, Codable {
  /// How many there were.
  public var count: Int
  /// The one in the middle.
  public var p50: Double
  /// 95 of 100 are at most this; of values with a sign the one that has this size.
  public var p95: Double
  /// The largest; of values with a sign the one of the largest size.
  public var worst: Double
}
