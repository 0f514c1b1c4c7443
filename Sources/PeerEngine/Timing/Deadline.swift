internal import Media

/// Operations on deadlines, any of which may be missing.
enum Deadline {
  static func isDue(_ deadline: MonotonicInstant?, now: MonotonicInstant) -> Bool {
    if let deadline { deadline <= now } else { false }
  }

  /// Returns the earlier of two deadlines.
  static func earlier(_ one: MonotonicInstant?, _ other: MonotonicInstant?) -> MonotonicInstant? {
    guard let one else { return other }
    guard let other else { return one }
    return min(one, other)
  }
}
