/// Where a picture stands in the order in which pictures are shown, of a codec whose pictures may be sent in another order: H.264 and
/// H.265.
package struct PictureOrder: Sendable, Hashable {
  /// The picture order count: of two pictures of one sequence, that with the lower count is shown first.
  package var count: Int64
  /// Whether a sequence begins with it (an IDR picture, or one that resets the count): all pictures before it are shown before it,
  /// whatever their counts.
  package var beginsSequence: Bool
  /// The maximum number of pictures that precede any picture in decoding and follow it in output, 0 to 16: 0 if there is no
  /// reordering; nil if the parameter sets do not tell it.
  package var reorderedFrames: Int?

  package init(count: Int64, beginsSequence: Bool, reorderedFrames: Int?) {
    self.count = count
    self.beginsSequence = beginsSequence
    self.reorderedFrames = reorderedFrames
  }
}
