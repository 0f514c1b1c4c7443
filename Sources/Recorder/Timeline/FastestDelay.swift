import Media
import NIOCore

/// The delay of the fastest arrivals: what all others are compared with.
///
/// A packet can be late, but not early, so the least delay is that of the network without a queue. It may rise by
/// `drift`, because the sender's clock and ours run at different speeds.
struct FastestDelay: Sendable {
  /// The maximum difference between the speeds of two clocks: 1,000 ppm.
  static let drift = 0.001
  /// By how much the delays of some time exceeded that of the fastest ones.
  struct Excess: Sendable {
    var least: Duration
    /// What four of five did not exceed.
    var usual: Duration
  }

  /// How long delays are remembered one by one.
  static let memory = Duration.seconds(2)
  /// The maximum number of remembered delays.
  private static let maximumRecent = 256

  private var least: Duration?
  private var newest: MonotonicInstant?
  private var recent = CircularBuffer<(arrival: MonotonicInstant, excess: Duration)>()

  /// Adds an arrival.
  ///
  /// - Parameter delay: its delay, from any fixed origin.
  /// - Returns: by how much it exceeds that of the fastest ones.
  mutating func add(_ delay: Duration, at arrival: MonotonicInstant) -> Duration {
    let elapsed = newest.map { min(max(.zero, arrival - $0), .seconds(1)) } ?? .zero
    newest = max(newest ?? arrival, arrival)
    let excess = max(.zero, delay - (least ?? delay))
    least = least.map { min($0 + elapsed * Self.drift, delay) } ?? delay
    while let first = recent.first, recent.count == Self.maximumRecent || arrival - first.arrival > Self.memory {
      recent.removeFirst()
    }
    recent.append((arrival, excess))
    return excess
  }

  /// Returns the excess delays of those that arrived since an instant; nil if none did.
  func excess(since instant: MonotonicInstant) -> Excess? {
    let sorted = recent.filter { $0.arrival >= instant }.map(\.excess).sorted()
    return sorted.first.map { Excess(least: $0, usual: sorted[sorted.count * 4 / 5]) }
  }

  /// Whether nothing has arrived since an instant.
  func isSilent(since instant: MonotonicInstant) -> Bool { newest.map { $0 < instant } ?? true }

  /// Makes the delay of the fastest arrivals longer: the network's path has changed.
  mutating func rise(by more: Duration) {
    least = least.map { $0 + more }
    forgetRecent()
  }

  /// Forgets single delays: the positions that they were measured with have moved.
  mutating func forgetRecent() { recent.removeAll(keepingCapacity: true) }
}
