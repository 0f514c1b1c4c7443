/// Determines the picture order counts of a stream's pictures, which are passed to it in decoding order (ITU-T H.264, 8.2.1).
///
/// A missing picture does no harm as long as fewer are missing than half of what the coded bits can count, unless it is one that resets the
/// count without being an IDR picture (memory_management_control_operation 5).
package struct H264PictureOrderCounter: Sendable {
  /// The count of the last picture that others may refer to, without its lowest bits, and these bits.
  private var reference: (rest: Int64, leastSignificantBits: Int64) = (0, 0)
  /// FrameNumOffset of the last picture.
  private var frameNumberOffset: Int64 = 0
  private var lastFrameNumber: Int64 = 0

  package init() {}

  /// Returns where the next picture in decoding order is shown; nil if its header does not tell that.
  ///
  /// - Parameters:
  ///   - slice: the header of its first slice, parsed with both parameter sets.
  ///   - parameters: its sequence parameter set.
  package mutating func add(_ slice: H264SliceHeader, _ parameters: H264SequenceParameterSet) -> PictureOrder? {
    guard let order = slice.order, let frameNumber = slice.frameNumber.map(Int64.init) else { return nil }
    if slice.isIDR { (reference, frameNumberOffset, lastFrameNumber) = ((0, 0), 0, 0) }
    var count: Int64
    switch parameters.pictureOrderCount {
    case .leastSignificantBits(let bits): count = followBits(order, of: slice, period: 1 << Int64(min(bits, 16)))
    case .cycle(let cycle):
      count = followCycle(order, of: slice, cycle, frameNumber: absolute(frameNumber, parameters))
    case .decodingOrder:
      let isOther = slice.referenceIDC == 0
      count = 2 &* absolute(frameNumber, parameters) &- (isOther ? 1 : 0) &+ (slice.field == .bottom ? 1 : 0)
    }
    if slice.resetsOrder {
      // 8.2.1: after it, the earlier one of its fields is at 0, and frame_num counts from 0.
      reference = (0, slice.field == nil ? max(0, 0 - Int64(order.bottomDifference)) : 0)
      (frameNumberOffset, lastFrameNumber, count) = (0, 0, 0)
    }
    return PictureOrder(
      count: count, beginsSequence: slice.isIDR || slice.resetsOrder, reorderedFrames: parameters.reorderedFrames)
  }

  /// 8.2.1.1.
  private mutating func followBits(_ order: H264SliceHeader.Order, of slice: H264SliceHeader, period: Int64) -> Int64 {
    let bits = Int64(order.leastSignificantBits)
    var rest = reference.rest
    if bits < reference.leastSignificantBits, reference.leastSignificantBits - bits >= period / 2 {
      rest = rest &+ period
    } else if bits > reference.leastSignificantBits, bits - reference.leastSignificantBits > period / 2 {
      rest = rest &- period
    }
    if slice.referenceIDC != 0 { reference = (rest, bits) }
    let count = rest &+ bits
    return slice.field == nil ? min(count, count &+ Int64(order.bottomDifference)) : count
  }

  /// 8.2.1.2.
  ///
  /// - Parameter frameNumber: frame_num without wraps.
  private func followCycle(
    _ order: H264SliceHeader.Order, of slice: H264SliceHeader, _ cycle: H264SequenceParameterSet.Cycle,
    frameNumber: Int64
  ) -> Int64 {
    let isReference = slice.referenceIDC != 0
    var number = cycle.offsets.isEmpty ? 0 : frameNumber
    if !isReference, number > 0 { number -= 1 }
    var expected: Int64 = 0
    if number > 0 {
      let (cycles, index) = (number - 1).quotientAndRemainder(dividingBy: Int64(cycle.offsets.count))
      let sum = cycle.offsets.reduce(Int64(0)) { $0 + Int64($1) }
      expected = cycles &* sum
      for offset in cycle.offsets.prefix(Int(index) + 1) { expected = expected &+ Int64(offset) }
    }
    if !isReference { expected = expected &+ Int64(cycle.offsetOfOthers) }
    let top = expected &+ Int64(order.difference)
    let bottom = top &+ Int64(cycle.offsetOfBottomField)
    return switch slice.field {
    case .top: top
    case .bottom: bottom
    case nil: min(top, bottom &+ Int64(order.secondDifference))
    }
  }

  /// Returns frame_num without wraps, and remembers it.
  private mutating func absolute(_ frameNumber: Int64, _ parameters: H264SequenceParameterSet) -> Int64 {
    if lastFrameNumber > frameNumber {
      frameNumberOffset = frameNumberOffset &+ 1 << Int64(min(parameters.log2MaximumFrameNumber, 16))
    }
    lastFrameNumber = frameNumber
    return frameNumberOffset &+ frameNumber
  }
}
