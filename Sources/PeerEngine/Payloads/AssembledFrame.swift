package import Bitstream
package import Media
package import NIOCore

/// A frame that has ended, complete or not.
package struct AssembledFrame<Dependency: FrameDependency>: Sendable {
  /// The frame's properties for the tracker of decodability.
  package var dependency: Dependency
  /// The bitstream; incomplete if `dependency` says so.
  package var payload: ByteBuffer
  /// The parsed header; nil if the frame is damaged.
  package var header: VideoHeader?
  /// Where it is shown; nil if that is not known.
  package var order: PictureOrder?
  /// The RTP timestamp.
  package var timestamp: UInt32
  /// When its last packet arrived.
  package var arrival: MonotonicInstant
  /// Whether it is damaged only because the sender did not send its end: no packet is missing.
  package var isCutOff = false

  /// The size, of keyframes and of other frames that tell it.
  package var size: VideoSize? { header?.size }

  mutating func markDamaged() {
    dependency.isComplete = false
    dependency.isKeyframe = false
    header = nil
  }
}

/// The properties of a frame on which it depends whether it can be decoded.
package protocol FrameDependency: Sendable {
  var isKeyframe: Bool { get set }
  /// Whether all of its packets arrived, and it is valid.
  var isComplete: Bool { get set }
}

/// The limits of a frame: one beyond them is damaged, because a receiver's memory must be bounded.
package enum FrameLimits {
  /// In bytes. No encoder makes a larger frame.
  package static let maximumSize = 4 << 20
  /// No encoder makes a frame of more packets either: with 1,200 bytes in each it would far exceed the maximum size.
  package static let maximumPackets = 8_192
  /// The maximum width and height in pixels. Headers can state up to 65,536x65,536, for which a decoder would allocate gigabytes.
  package static let maximumSide = 4_096
}
