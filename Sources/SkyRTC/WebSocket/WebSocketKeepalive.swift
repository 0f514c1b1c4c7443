package import NIOCore

/// Decides when to ping and when to give up a silent connection. Pure: `now` comes in, a deadline goes out.
package struct WebSocketKeepalive: Sendable {
  /// What to do now.
  package enum Action: Sendable, Hashable {
    case wait
    case ping
    /// Nothing came for this long, not even after a ping.
    case giveUp(silence: Duration)
  }

  /// When we look so much too late, it is we who slept: the answer may have come, unread. We ask again.
  private static let ownLateness = TimeAmount.seconds(1)

  private let interval: TimeAmount
  private let timeout: TimeAmount
  private var lastHeard: NIODeadline
  private var pinged: NIODeadline?

  /// - Parameters:
  ///   - interval: silence after which the other side is pinged.
  ///   - timeout: further silence after which it is abandoned.
  package init(interval: Duration, timeout: Duration, now: NIODeadline) {
    self.interval = TimeAmount(interval)
    self.timeout = TimeAmount(timeout)
    lastHeard = now
  }

  /// When `poll` is next needed.
  package var deadline: NIODeadline {
    if let pinged { return pinged + timeout }
    return lastHeard + interval
  }

  /// Any byte counts as a sign of life, not only a pong.
  package mutating func heard(now: NIODeadline) {
    lastHeard = now
    pinged = nil
  }

  package mutating func poll(now: NIODeadline) -> Action {
    guard now >= deadline else { return .wait }
    if pinged != nil, now - deadline < Self.ownLateness {
      return .giveUp(silence: .nanoseconds((now - lastHeard).nanoseconds))
    }
    pinged = now
    return .ping
  }
}
