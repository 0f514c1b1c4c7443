package import NIOCore

/// Decides when to ping a silent connection and when to give it up. Pure: `now` comes in, a deadline goes out.
package struct WebSocketKeepalive: Sendable {
  /// The action that is due.
  package enum Action: Sendable, Hashable {
    case wait
    case ping
    /// Nothing was received for this long, not even after a ping.
    case giveUp(silence: Duration)
  }

  /// If `poll` is called this late, this process was not scheduled: the answer may have arrived and is unread, so it
  /// pings again.
  private static let ownLateness = TimeAmount.seconds(1)

  private let interval: TimeAmount
  private let timeout: TimeAmount
  private var lastHeard: NIODeadline
  /// When something must have been received after a ping.
  private var answerDue: NIODeadline?

  /// - Parameters:
  ///   - interval: the silence after which to ping.
  ///   - timeout: the further silence after which to give up.
  package init(interval: Duration, timeout: Duration, now: NIODeadline) {
    self.interval = TimeAmount(interval)
    self.timeout = TimeAmount(timeout)
    lastHeard = now
  }

  /// The time of the next call of `poll`.
  package var deadline: NIODeadline {
    answerDue ?? lastHeard + interval
  }

  /// Resets the silence. Any received byte counts, not only a pong.
  package mutating func heard(now: NIODeadline) {
    lastHeard = now
    answerDue = nil
  }

  /// Expects something from the other side within the timeout, before the silence has lasted for the interval, because the
  /// connection may be lost.
  ///
  /// - Returns: whether a ping must be sent: false if one was sent already and the answer is awaited.
  package mutating func expectAnswer(now: NIODeadline) -> Bool {
    guard answerDue == nil else { return false }
    answerDue = now + timeout
    return true
  }

  package mutating func poll(now: NIODeadline) -> Action {
    guard now >= deadline else { return .wait }
    if answerDue != nil, now - deadline < Self.ownLateness {
      return .giveUp(silence: .nanoseconds((now - lastHeard).nanoseconds))
    }
    answerDue = now + timeout
    return .ping
  }
}
