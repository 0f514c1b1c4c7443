/// Extends 16-bit sequence numbers beyond their wrap: each is interpreted as the value nearest to the previous one.
///
/// The first number is unchanged; an earlier one can become negative.
package struct SequenceNumberUnwrapper: Sendable, Hashable {
  private var last: Int64?

  package init() {}

  /// Returns the extended number, which becomes the reference for the next one.
  package mutating func unwrap(_ number: UInt16) -> Int64 {
    let position = position(of: number)
    last = position
    return position
  }

  /// Returns the extended number without changing the reference: for numbers in feedback.
  package func position(of number: UInt16) -> Int64 {
    guard let last else { return Int64(number) }
    return last &+ Int64(Int16(bitPattern: number &- UInt16(truncatingIfNeeded: last)))
  }
}
