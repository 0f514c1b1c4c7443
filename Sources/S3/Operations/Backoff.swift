internal import Media

/// How long to wait between tries: from 0.5 s, twice as long each time, up to 60 s, less a random part of at most a half, so that
/// those who failed together do not try together. Pure.
package struct Backoff: Sendable, Hashable {
  package static let first = Duration.milliseconds(500)
  package static let maximum = Duration.seconds(60)

  private var next = Backoff.first

  package init() {}

  /// - Parameters:
  ///   - random: from 0 to 1.
  ///   - asked: how long the server asks to wait.
  package mutating func delay(random: Double, asked: Duration?) -> Duration {
    let base = next
    next = min(next * 2, Self.maximum)
    let jittered = max(Self.first, base * (1 - min(max(random, 0), 1) / 2))
    return min(max(jittered, asked ?? .zero), Self.maximum)
  }
}
