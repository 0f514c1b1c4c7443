/// How one act is done to one participant: what is heard and said by signalling goes through it, and at its time it has deeds
/// done. Each act differs from good behaviour in one of these only.
protocol Misbehaviour: Sendable {
  /// How often the act has been done; 0 when there has been no occasion yet.
  var timesPerformed: UInt64 { get }
  /// When ``due(isConnected:now:)`` is needed next; nil when nothing will be due by itself.
  var deadline: ContinuousClock.Instant? { get }

  /// What of a participant's message the engine hears now; nil if it hears it later, or never.
  mutating func hears(_ message: SignallingMessage, now: ContinuousClock.Instant) -> SignallingMessage?
  /// What the participant is told now of what the engine says; nil if they are told later, or never.
  mutating func says(_ message: SignallingMessage, now: ContinuousClock.Instant) -> SignallingMessage?
  /// What is to be done now.
  mutating func due(isConnected: Bool, now: ContinuousClock.Instant) -> [Deed]
}

extension Misbehaviour {
  var deadline: ContinuousClock.Instant? { nil }

  mutating func hears(_ message: SignallingMessage, now: ContinuousClock.Instant) -> SignallingMessage? { message }

  mutating func says(_ message: SignallingMessage, now: ContinuousClock.Instant) -> SignallingMessage? { message }

  mutating func due(isConnected: Bool, now: ContinuousClock.Instant) -> [Deed] { [] }
}
