package import Media

/// Limits the chat messages of one participant that are logged to 20 in a second, and 200 at once after a pause. The
/// others are counted.
package struct ChatRate: Sendable {
  /// The number of messages that were not logged.
  package private(set) var dropped: UInt64 = 0
  /// When the whole burst will be possible again.
  private var isFull: MonotonicInstant?

  private static let interval: Duration = .seconds(1) / DataMessageLimits.loggedTextsPerSecond

  package init() {}

  /// Returns whether a message is logged.
  package mutating func admits(now: MonotonicInstant) -> Bool {
    let full = max(isFull ?? now, now)
    guard full - now <= Self.interval * (DataMessageLimits.loggedTextBurst - 1) else {
      dropped &+= 1
      return false
    }
    isFull = full + Self.interval
    return true
  }
}
