package import RTP
package import Signalling

/// Injects one fault into the engine of one participant: signalling messages pass through it in both directions, and when it is
/// due it gives actions for the engine to carry out.
///
/// A value: each engine has a copy of its own.
package protocol FaultInjector: Sendable {
  /// How often the fault has been injected; 0 when there has been no occasion yet.
  var timesInjected: UInt64 { get }
  /// When ``due(isConnected:now:)`` is needed next; nil when nothing will be due by itself.
  var deadline: ContinuousClock.Instant? { get }

  /// The message that the engine receives now in place of the participant's; nil if it is kept for later, or dropped.
  mutating func incoming(_ message: SignallingMessage, now: ContinuousClock.Instant) -> SignallingMessage?
  /// The message that is sent now in place of the engine's; nil if it is kept for later, or dropped.
  mutating func outgoing(_ message: SignallingMessage, now: ContinuousClock.Instant) -> SignallingMessage?
  /// The actions that are due now.
  mutating func due(isConnected: Bool, now: ContinuousClock.Instant) -> [FaultAction]
}

extension FaultInjector {
  package var deadline: ContinuousClock.Instant? { nil }

  package mutating func incoming(_ message: SignallingMessage, now: ContinuousClock.Instant) -> SignallingMessage? {
    message
  }

  package mutating func outgoing(_ message: SignallingMessage, now: ContinuousClock.Instant) -> SignallingMessage? {
    message
  }

  package mutating func due(isConnected: Bool, now: ContinuousClock.Instant) -> [FaultAction] { [] }
}

/// What an engine does only when a fault is injected.
package enum FaultAction: Sendable {
  /// Handles a message as if it came now.
  case receive(SignallingMessage)
  /// Sends a message; it passes through ``FaultInjector/outgoing(_:now:)`` as every other.
  case send(SignallingMessage)
  case offerAgain
  case changeSources
  case alterPackets(any PacketAlteration)
  /// Ends the call without telling anybody.
  case fallSilent
}

/// Changes each RTP packet that leaves.
package protocol PacketAlteration: Sendable {
  /// - Parameter clockRate: ticks of the packet's timestamp in a second.
  mutating func change(_ packet: inout RTPPacket, clockRate: Int32)
}
