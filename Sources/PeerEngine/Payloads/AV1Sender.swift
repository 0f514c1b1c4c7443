package import NIOCore
import RTP

/// Turns temporal units of AV1 into RTP payloads.
package struct AV1Sender: VideoSender {
  package init(first: UInt16) {}

  package mutating func split(_ frame: ByteBuffer, maximumSize: Int) -> [ByteBuffer] {
    AV1Packetizer(maximumPayloadSize: maximumSize).packetize(frame: frame)
  }
}
