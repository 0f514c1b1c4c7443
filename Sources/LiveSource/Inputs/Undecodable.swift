/// What of an input could not be decoded, and was left out.
struct Undecodable: Sendable, Hashable {
  /// The first that was.
  struct First: Sendable, Hashable {
    /// In units of `FileTime.rate` from the input's start.
    let time: Int64
    /// As a clause.
    let reason: String
  }

  /// How many, in all rounds together.
  private(set) var count = 0
  private(set) var first: First?

  mutating func add(at time: Int64, reason: String) {
    count += 1
    first = first ?? First(time: time, reason: reason)
  }
}
