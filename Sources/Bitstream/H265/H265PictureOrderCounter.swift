/// Determines the picture order counts of a stream's pictures, which are passed to it in decoding order (ITU-T H.265, 8.3.1).
///
/// A missing picture does no harm as long as the counts of those that are missing span less than half of what the coded bits can count.
package struct H265PictureOrderCounter: Sendable {
  /// The count of the last picture of the lowest temporal sub-layer that others refer to (prevTid0Pic).
  private var reference: Int64 = 0
  /// Whether the next keyframe begins a sequence, of whatever kind it is.
  private var isAtBeginning = true

  package init() {}

  /// Returns where the next picture in decoding order is shown; nil if its header does not tell that.
  ///
  /// - Parameters:
  ///   - slice: the header of its first slice segment, parsed with the parameter sets.
  ///   - parameters: its sequence parameter set.
  ///   - endsSequence: whether the end of the sequence follows it.
  package mutating func add(
    _ slice: H265SliceHeader, _ parameters: H265SequenceParameterSet, endsSequence: Bool = false
  ) -> PictureOrder? {
    guard let coded = slice.picture.map({ Int64($0.orderCount) }) else { return nil }
    let type = slice.type
    let beginsSequence =
      type.isKeyframe && (isAtBeginning || type.isIDR || H265NALUnit.Kind.brokenLink.contains(type.rawValue))
    let count = beginsSequence ? coded : absolute(coded, period: 1 << Int64(min(parameters.pictureOrderCountBits, 16)))
    isAtBeginning = endsSequence || isAtBeginning && !type.isKeyframe
    if slice.temporalID == 0, !type.isLeading, !type.isNonReference { reference = count }
    return PictureOrder(count: count, beginsSequence: beginsSequence, reorderedFrames: parameters.reorderedFrames)
  }

  /// Returns the count with these lowest bits that is nearest to that of the reference.
  private func absolute(_ coded: Int64, period: Int64) -> Int64 {
    let lowest = reference & (period - 1)
    let rest = reference &- lowest
    if coded < lowest, lowest - coded >= period / 2 { return rest &+ period &+ coded }
    if coded > lowest, coded - lowest > period / 2 { return rest &- period &+ coded }
    return rest &+ coded
  }
}
