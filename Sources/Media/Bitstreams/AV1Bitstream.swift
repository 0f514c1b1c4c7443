package import NIOCore

/// Temporal units of AV1.
package enum AV1Bitstream: VideoBitstream {
  package static func header(of frame: ByteBuffer) -> VideoHeader? { nil }
}
