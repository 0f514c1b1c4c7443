/// The sizes of the eight reference frames of a VP9 decoder (VP9 bitstream specification, 7.20).
///
/// A frame can take its size from a reference in place of stating it, and the number of bits of its tile information depends
/// on the size. Therefore a parser of headers needs to follow what a decoder stores.
package struct VP9ReferenceSizes: Sendable, Hashable {
  /// The number of reference frames.
  package static let count = 8

  private var sizes = [VP9FrameHeader.Size?](repeating: nil, count: count)

  /// With eight unknown sizes.
  package init() {}

  /// The size of a reference frame; nil if it is unknown, or if there is no such slot.
  package subscript(slot: Int) -> VP9FrameHeader.Size? {
    sizes.indices.contains(slot) ? sizes[slot] : nil
  }

  /// Stores a frame's size in the slots that the frame refreshes.
  package mutating func update(after header: VP9FrameHeader) {
    if header.refreshFrameFlags == 0 { return }
    for slot in sizes.indices where header.refreshFrameFlags >> UInt8(slot) & 1 == 1 { sizes[slot] = header.size }
  }

  /// Forgets all sizes, as after a frame that cannot be parsed.
  package mutating func removeAll() {
    for slot in sizes.indices { sizes[slot] = nil }
  }
}
