/// Continues 16-bit sequence numbers beyond their wrap: each is taken as the nearest to the one before.
///
/// The first number is itself; one that is earlier can come out below zero.
package struct SequenceNumberUnwrapper: Sendable, Hashable {
  private var last: Int64?

  package init() {}

  /// The number's place on the endless line, from which the next is judged.
  package mutating func unwrap(_ number: UInt16) -> Int64 {
    let position = position(of: number)
    last = position
    return position
  }

  /// The number's place, without making it the new point of reference: for numbers that feedback names.
  package func position(of number: UInt16) -> Int64 {
    guard let last else { return Int64(number) }
    return last &+ Int64(Int16(bitPattern: number &- UInt16(truncatingIfNeeded: last)))
  }
}
