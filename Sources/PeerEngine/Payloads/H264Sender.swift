package import NIOCore
import RTP

/// Turns H.264 frames into RTP payloads.
package struct H264Sender: VideoSender {
  /// Whether several NAL units may share a payload: not in packetization mode 0 (RFC 6184, 6.2).
  private var aggregates = true

  package init(first: UInt16) {}

  package mutating func setPacketizationMode(_ mode: UInt8) { aggregates = mode > 0 }

  package mutating func split(_ frame: ByteBuffer, maximumSize: Int) -> [ByteBuffer] {
    H264Packetizer(maximumPayloadSize: maximumSize, aggregates: aggregates).packetize(frame: frame)
  }
}
