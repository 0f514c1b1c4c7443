/// How many packets may be requested at a time: all that are missing while answers come, few while they do not.
///
/// What is requested comes over the line that lost it. A line too narrow for the frames loses their repeats as well,
/// and every repeat that it does carry takes the place of something new; requested without measure, they would also use
/// up what the sender is ready to repeat, and nothing would be left of it when the line is wide again. So each question
/// that stays without an answer makes the window a little smaller, and each answer makes it larger by nearly four times
/// as much, which opens it within some round trips (as slow start does, RFC 5681, 3.1).
///
/// It stays where it is when one question in five is answered. A path that loses three datagrams in ten both ways answers
/// every second one.
package struct NackWindow: Sendable {
  /// Small enough for a line of 300 kb/s, and enough to learn that the line has become wider.
  package static let smallest: Double = 4
  /// More than a sender repeats in one round trip.
  package static let largest: Double = 1_000

  private var width = NackWindow.largest

  package init() {}

  /// How many packets may have been requested and be awaited.
  package var size: Int { Int(width) }

  /// A packet came that had been requested.
  package mutating func wasAnswered() { width = min(Self.largest, width * 9 / 8) }

  /// A packet that was requested did not come in the time that it should have taken.
  package mutating func wasNotAnswered() { width = max(Self.smallest, width * 31 / 32) }
}
