/// How many bytes may be sent again: in the long run one and a half for each that was sent for the first time, so that a
/// peer who asks for everything, again and again, cannot make much traffic out of its small questions.
///
/// A path that loses six packets in ten still gets all that it needs. It has no clock: what is earned by sending is kept,
/// up to what an outage of some seconds costs.
package struct RetransmissionBudget: Sendable {
  /// Bytes that each byte sent for the first time earns, in hundredths.
  package static let percentage = 150
  /// The most bytes that can be kept.
  package static let most = 2 << 20
  /// The first keyframe may need all of its packets again.
  package static let initial = 256 << 10

  /// Bytes that may be sent again now.
  package private(set) var bytes = RetransmissionBudget.initial

  package init() {}

  /// A packet left for the first time.
  package mutating func earn(_ size: Int) {
    bytes = min(Self.most, bytes + size * Self.percentage / 100)
  }

  /// Whether a packet may be sent again; if so, it is paid for.
  package mutating func spend(_ size: Int) -> Bool {
    guard bytes >= size else { return false }
    bytes -= size
    return true
  }
}
