import Pattern

/// A picture of the pattern that we sent.
struct SentPicture: Sendable, Hashable {
  /// What is painted on it.
  let reading: PatternReading
  /// When it was sent, in seconds since the check's start.
  let time: Double
}
