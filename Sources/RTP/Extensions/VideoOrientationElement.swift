import NIOCore

/// The coordination of video orientation of a packet (3GPP TS 26.114, 7.4.5): a byte of the bits `0 0 0 0 C F R1 R0`.
package struct VideoOrientationElement: Sendable, Hashable {
  /// C: whether the camera faces away from the user.
  package var isBackFacing: Bool
  /// F: whether the receiver mirrors the frame left to right.
  package var isFlipped: Bool
  /// R: how often the receiver turns the frame clockwise by 90°, 0 to 3, before it mirrors it.
  package var quarterTurns: Int

  package init(quarterTurns: Int, isFlipped: Bool = false, isBackFacing: Bool = false) {
    self.quarterTurns = quarterTurns & 3
    self.isFlipped = isFlipped
    self.isBackFacing = isBackFacing
  }

  /// The upper four bits are ignored.
  init(byte: UInt8) {
    self.init(quarterTurns: Int(byte & 3), isFlipped: byte & 4 != 0, isBackFacing: byte & 8 != 0)
  }

  var byte: UInt8 { UInt8(quarterTurns & 3) | (isFlipped ? 4 : 0) | (isBackFacing ? 8 : 0) }
}

extension RTPHeaderExtensions {
  /// Returns the orientation of the frame that the packet ends.
  package func videoOrientation(_ id: UInt8?) -> VideoOrientationElement? {
    guard let id, let element = element(id), element.valueCount == 1 else { return nil }
    return content.getInteger(at: element.valueIndex, as: UInt8.self).map(VideoOrientationElement.init(byte:))
  }

  package mutating func setVideoOrientation(_ orientation: VideoOrientationElement?, _ id: UInt8?) {
    guard let id else { return }
    guard let orientation else { return remove(id) }
    if let index = allocateElement(id: id, count: 1) { content.setInteger(orientation.byte, at: index) }
  }
}
