/// The wait before the next attempt to connect. It grows from attempt to attempt, and random jitter keeps the clients
/// of a restarted server from connecting all at once. Pure.
public struct ReconnectBackoff: Sendable {
  private let minimum: Duration
  private let maximum: Duration
  private var ceiling: Duration

  /// - Parameters:
  ///   - minimum: the minimum wait.
  ///   - maximum: the maximum wait; raised to `minimum` if it is below that.
  public init(minimum: Duration = .milliseconds(500), maximum: Duration = .seconds(30)) {
    self.minimum = minimum
    self.maximum = max(minimum, maximum)
    ceiling = min(minimum * 2, self.maximum)
  }

  /// Returns the next wait, uniformly distributed between the minimum and a ceiling that doubles up to the maximum.
  public mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
    let wait = minimum + (ceiling - minimum) * Double.random(in: 0...1, using: &generator)
    ceiling = min(ceiling * 2, maximum)
    return wait
  }

  /// Returns to the first ceiling, after a connection that lasted.
  public mutating func reset() {
    ceiling = min(minimum * 2, maximum)
  }
}
