package import Media
package import Signalling

/// Stands between one connection and the signalling: messages pass it in both directions, and it may change, delay or drop
/// them, or give the connection commands at times of its own.
///
/// A value: each connection has its own copy. It reads no clock.
package protocol ConnectionInterceptor: Sendable {
  /// How often it has intervened; 0 when there has been no occasion yet.
  var interventions: UInt64 { get }
  /// When ``due(isConnected:now:)`` must be called next; nil when nothing is scheduled.
  var deadline: MonotonicInstant? { get }

  /// Returns the message that the connection receives now instead of the participant's, or nil if it is delayed or dropped.
  mutating func incoming(_ message: SignallingMessage, now: MonotonicInstant) -> SignallingMessage?
  /// Returns the message that is sent now instead of the connection's, or nil if it is delayed or dropped.
  mutating func outgoing(_ message: SignallingMessage, now: MonotonicInstant) -> SignallingMessage?
  /// Returns the commands that are due now.
  mutating func due(isConnected: Bool, now: MonotonicInstant) -> [ConnectionCommand]
}

extension ConnectionInterceptor {
  package var deadline: MonotonicInstant? { nil }

  package mutating func incoming(_ message: SignallingMessage, now: MonotonicInstant) -> SignallingMessage? {
    message
  }

  package mutating func outgoing(_ message: SignallingMessage, now: MonotonicInstant) -> SignallingMessage? {
    message
  }

  package mutating func due(isConnected: Bool, now: MonotonicInstant) -> [ConnectionCommand] { [] }
}

/// What an interceptor has its connection do.
package enum ConnectionCommand: Sendable {
  /// Handles a message as if it arrived now; no interceptor sees it again.
  case receive(SignallingMessage)
  /// Sends a message; it passes all interceptors like every other.
  case send(SignallingMessage)
  /// Sends an offer.
  case offer
  /// Sends all tracks with new SSRCs from now on, without announcing them.
  case changeSources
  /// Ends the connection without sending anything, and ignores the participant from then on.
  case abandon(CloseReason)
}
