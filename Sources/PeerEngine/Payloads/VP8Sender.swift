package import NIOCore
import RTP

/// Turns VP8 frames into RTP payloads with consecutive picture ids (RFC 7741, 4.2).
package struct VP8Sender: VideoSender {
  private var pictureID: UInt16

  package init(first: UInt16) { pictureID = first & 0x7FFF }

  package mutating func split(_ frame: ByteBuffer, maximumSize: Int) -> [ByteBuffer] {
    defer { pictureID = (pictureID + 1) & 0x7FFF }
    return VP8Packetizer(maximumPayloadSize: maximumSize).packetize(
      frame: frame, descriptor: VP8PayloadDescriptor(startsPartition: true, pictureID: .init(pictureID)))
  }
}
