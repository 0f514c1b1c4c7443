/// A peer that is not judged because there are too many: of it is known only whether it was there.
struct Bystander: Sendable {
  private var first: Double?
  private var gone: Double?

  /// Media came.
  mutating func came(at time: Double) {
    first = min(first ?? time, time)
    gone = nil
  }

  mutating func went(at time: Double) { gone = gone ?? time }

  /// From when to when media came; nil when none did.
  func presence(until end: Double) -> ClosedRange<Double>? {
    first.map { $0...max($0, gone ?? end) }
  }
}
