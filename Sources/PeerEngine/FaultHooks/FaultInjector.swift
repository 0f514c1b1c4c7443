package import Media
package import RTP
package import Signalling

/// Injects one fault into the engine of one participant: signalling messages pass through it in both directions, and when
/// it is due it returns actions for the engine to carry out.
///
/// A value: each engine has its own copy.
package protocol FaultInjector: Sendable {
  /// How often the fault has been injected; 0 when there has been no occasion yet.
  var timesInjected: UInt64 { get }
  /// When ``due(isConnected:now:)`` must be called next; nil when no action is scheduled.
  var deadline: MonotonicInstant? { get }

  /// Returns the message that the engine receives now instead of the participant's, or nil if it is delayed or dropped.
  mutating func incoming(_ message: SignallingMessage, now: MonotonicInstant) -> SignallingMessage?
  /// Returns the message that is sent now instead of the engine's, or nil if it is delayed or dropped.
  mutating func outgoing(_ message: SignallingMessage, now: MonotonicInstant) -> SignallingMessage?
  /// Returns the actions that are due now.
  mutating func due(isConnected: Bool, now: MonotonicInstant) -> [FaultAction]
}

extension FaultInjector {
  package var deadline: MonotonicInstant? { nil }

  package mutating func incoming(_ message: SignallingMessage, now: MonotonicInstant) -> SignallingMessage? {
    message
  }

  package mutating func outgoing(_ message: SignallingMessage, now: MonotonicInstant) -> SignallingMessage? {
    message
  }

  package mutating func due(isConnected: Bool, now: MonotonicInstant) -> [FaultAction] { [] }
}

/// A fault of a peer, which each connection has. The library `FaultInjection` makes it: `configuration.fault = .injecting(.slowAnswer)`.
public struct PeerFault: Sendable {
  package let injector: any FaultInjector

  package init(_ injector: any FaultInjector) {
    self.injector = injector
  }
}

/// An action that an engine performs only as a deliberate fault.
package enum FaultAction: Sendable {
  /// Handles a message as if it arrived now.
  case receive(SignallingMessage)
  /// Sends a message; it passes through ``FaultInjector/outgoing(_:now:)`` like every other.
  case send(SignallingMessage)
  case offerAgain
  case changeSources
  case alterPackets(any PacketAlteration)
  /// Ends the call without sending anything.
  case stopSending
}

/// Changes each RTP packet before it is sent.
package protocol PacketAlteration: Sendable {
  /// - Parameter clockRate: the clock rate of the packet's timestamp.
  mutating func change(_ packet: inout RTPPacket, clockRate: Int32)
}
