/// The number of packets that may be requested at a time: all missing ones while retransmissions arrive, few while they do
/// not.
///
/// Retransmissions take the path that lost the packets. A path too narrow for the frames loses the retransmissions as well,
/// and each one that it does carry displaces new packets. Requested without limit, they would also exhaust the sender's
/// budget for retransmissions, and nothing would be left of it when the path recovers. So each request without an answer
/// makes the window a little smaller, and each answer makes it larger by nearly four times as much, which opens it within
/// some round trips (as slow start does, RFC 5681, 3.1).
///
/// The window is stable when one request in five is answered. A path that loses three datagrams in ten in both directions
/// answers every second one.
package struct NackWindow: Sendable {
  /// Small enough for a path of 300 kb/s, and enough to detect that the path has become wider.
  package static let minimumWidth: Double = 4
  /// More than a sender retransmits in one round trip.
  package static let maximumWidth: Double = 1_000

  private var width = NackWindow.maximumWidth

  package init() {}

  /// The maximum number of requested packets that are awaited.
  package var size: Int { Int(width) }

  /// Notes that a requested packet arrived.
  package mutating func wasAnswered() { width = min(Self.maximumWidth, width * 9 / 8) }

  /// Notes that a requested packet did not arrive in time.
  package mutating func wasNotAnswered() { width = max(Self.minimumWidth, width * 31 / 32) }
}
