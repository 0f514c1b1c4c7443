/// How long to wait before the next attempt to connect: jittered, so that the clients of a restarted server do not all
/// come at once, and longer from attempt to attempt. Pure.
package struct ReconnectBackoff: Sendable {
  private let shortest: Duration
  private let longest: Duration
  private var ceiling: Duration

  /// - Parameters:
  ///   - shortest: no wait is shorter.
  ///   - longest: no wait is longer, or as long as `shortest` when that is more.
  package init(shortest: Duration = .milliseconds(500), longest: Duration = .seconds(30)) {
    self.shortest = shortest
    self.longest = max(shortest, longest)
    ceiling = min(shortest * 2, self.longest)
  }

  /// The next wait: evenly distributed between the shortest and a ceiling that doubles up to the longest.
  package mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
    let wait = shortest + (ceiling - shortest) * Double.random(in: 0...1, using: &generator)
    ceiling = min(ceiling * 2, longest)
    return wait
  }

  /// Starts over, after a connection that lasted.
  package mutating func reset() {
    ceiling = min(shortest * 2, longest)
  }
}
