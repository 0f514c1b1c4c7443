/// How inputs follow each other in time: all in units of `FileTime.rate`.
struct Rounds: Sendable, Hashable {
  /// After how long the inputs begin anew; nil when none of them has a length.
  var period: Int64?
  /// Whether they do.
  var loops: Bool

  init(period: Int64?, loops: Bool) {
    self.period = period
    self.loops = loops
  }

  /// When what has no length of its own is to end; nil for never.
  var end: Int64? { loops ? nil : period }
}
