/// Continues 32-bit RTP timestamps beyond their wrap: each is taken as the nearest to the one before.
///
/// The first timestamp is itself; one that is earlier can come out below zero.
package struct TimestampUnwrapper: Sendable, Hashable {
  private var last: Int64?

  package init() {}

  /// The timestamp's place on the endless line, from which the next is judged.
  package mutating func unwrap(_ timestamp: UInt32) -> Int64 {
    let place = place(of: timestamp)
    last = place
    return place
  }

  /// The timestamp's place, without making it the new point of reference: for those that sender reports name.
  package func place(of timestamp: UInt32) -> Int64 {
    guard let last else { return Int64(timestamp) }
    return last &+ Int64(Int32(bitPattern: timestamp &- UInt32(truncatingIfNeeded: last)))
  }
}
