package import Media
package import NIOCore

/// Turns frames into RTP payloads: the one place where a track that sends chooses by codec.
///
/// The payloads of a frame, descriptors included, are for packets with consecutive sequence numbers, the last one with the marker.
/// What ``PayloadReader`` makes of them is the frame again.
package struct PayloadWriter: Sendable {
  /// Nil for audio: a packet of it is its own payload.
  private var video: (any VideoSender)?

  /// - Parameter generator: draws one number, whatever the codec is.
  package init(_ codec: Codec, using generator: inout some RandomNumberGenerator) {
    let first: UInt16 = generator.next()
    video = codec.video?.sender.init(first: first)
  }

  /// Follows the packetization mode of H.264 that was negotiated (RFC 6184, 6.2): in mode 0 each NAL unit has a payload of its own.
  package mutating func setPacketizationMode(_ mode: UInt8) { video?.setPacketizationMode(mode) }

  /// Returns the payloads of the next frame, in order; nil if the frame itself is the only payload, as it is with audio.
  ///
  /// - Parameter maximumSize: the maximum size of a payload in bytes.
  package mutating func split(_ frame: ByteBuffer, maximumSize: Int) -> [ByteBuffer]? {
    video?.split(frame, maximumSize: maximumSize)
  }
}
