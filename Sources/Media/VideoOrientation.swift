/// How the frames of a video are turned before they are shown: its camera was turned, and the sender has left the turning to the
/// receiver (3GPP TS 26.114, 7.4.5).
public struct VideoOrientation: Sendable, Hashable {
  /// Quarter turns in bits 0 and 1, and whether the frame is mirrored in bit 2: one byte, because each frame has one.
  private let bits: UInt8

  /// Frames that are shown as they are.
  public static let upright = VideoOrientation(quarterTurns: 0)

  /// - Parameters:
  ///   - quarterTurns: how often a frame is turned clockwise by 90°, modulo 4.
  ///   - isMirrored: whether left and right change places after that.
  public init(quarterTurns: Int, isMirrored: Bool = false) {
    bits = UInt8(quarterTurns & 3) | (isMirrored ? 4 : 0)
  }

  /// - Parameters:
  ///   - rotation: the angle clockwise in degrees: 0, 90, 180 or 270.
  ///   - isMirrored: whether left and right change places after that.
  /// - Returns: nil for another angle.
  public init?(rotation: Int, isMirrored: Bool = false) {
    guard rotation % 90 == 0, (0..<360).contains(rotation) else { return nil }
    self.init(quarterTurns: rotation / 90, isMirrored: isMirrored)
  }

  /// The angle by which a frame is turned clockwise, in degrees: 0, 90, 180 or 270.
  public var rotation: Int { Int(bits & 3) * 90 }

  /// Whether left and right of the turned frame change places.
  public var isMirrored: Bool { bits & 4 != 0 }

  /// Whether width and height change places.
  public var swapsSides: Bool { bits & 1 != 0 }

  /// Returns the size of a turned frame.
  public func size(of size: VideoSize) -> VideoSize {
    swapsSides ? VideoSize(width: size.height, height: size.width) : size
  }
}

extension VideoOrientation: CustomStringConvertible {
  /// A clause, for example `turned by 90° and mirrored`.
  public var description: String {
    let parts = [rotation == 0 ? nil : "turned by \(rotation)°", isMirrored ? "mirrored" : nil].compactMap(\.self)
    return parts.isEmpty ? "upright" : parts.joined(separator: " and ")
  }
}
