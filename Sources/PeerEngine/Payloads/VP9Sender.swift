package import NIOCore
import RTP

/// Turns VP9 frames into RTP payloads with consecutive picture ids (RFC 9628, 4.2).
package struct VP9Sender: VideoSender {
  private var pictureID: UInt16

  package init(first: UInt16) { pictureID = first & 0x7FFF }

  package mutating func split(_ frame: ByteBuffer, maximumSize: Int) -> [ByteBuffer] {
    defer { pictureID = (pictureID + 1) & 0x7FFF }
    return VP9Packetizer(maximumPayloadSize: maximumSize).packetize(frame: frame, pictureID: pictureID)
  }
}
