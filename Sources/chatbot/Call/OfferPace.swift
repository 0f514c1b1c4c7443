import Media

/// Lets offers to a full room leave a few at a time: each takes a certificate and brings an answer, candidates and checks.
struct OfferPace {
  /// How many leave together, and how long it takes until the next ones do.
  static let group = 10
  static let pause = Duration.milliseconds(50)

  private var count = 0

  /// Waits until the next offer may leave.
  mutating func next() async {
    if count > 0, count.isMultiple(of: Self.group) { try? await MediaThread.loop.sleep(for: Self.pause) }
    count += 1
  }
}
