/// How a receiver must turn a picture to have it upright: "coordination of video orientation" (3GPP TS 26.114, 7.4.5).
package struct VideoOrientation: Sendable, Hashable {
  /// Degrees clockwise by which the picture has to be turned.
  package enum Rotation: UInt8, Sendable, Hashable {
    case none = 0
    case quarter = 1
    case half = 2
    case threeQuarters = 3

    package var degrees: Int { Int(rawValue) * 90 }
  }

  package var rotation: Rotation
  /// Whether left and right are swapped.
  package var isFlipped: Bool
  /// Whether the camera on the back of the device took it.
  package var isBackCamera: Bool

  package init(rotation: Rotation, isFlipped: Bool = false, isBackCamera: Bool = false) {
    self.rotation = rotation
    self.isFlipped = isFlipped
    self.isBackCamera = isBackCamera
  }

  init(byte: UInt8) {
    self.init(
      rotation: Rotation(rawValue: byte & 0x03) ?? .none, isFlipped: byte & 0x04 != 0, isBackCamera: byte & 0x08 != 0)
  }

  var byte: UInt8 { rotation.rawValue | (isFlipped ? 0x04 : 0) | (isBackCamera ? 0x08 : 0) }
}
