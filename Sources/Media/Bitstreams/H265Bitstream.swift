package import NIOCore

/// Frames of H.265.
package enum H265Bitstream: VideoBitstream {
  package static func header(of frame: ByteBuffer) -> VideoHeader? { nil }
}
