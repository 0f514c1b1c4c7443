package import NIOCore
import RTP

/// Turns H.265 frames into RTP payloads.
package struct H265Sender: VideoSender {
  package init(first: UInt16) {}

  package mutating func split(_ frame: ByteBuffer, maximumSize: Int) -> [ByteBuffer] {
    H265Packetizer(maximumPayloadSize: maximumSize).packetize(frame: frame)
  }
}
