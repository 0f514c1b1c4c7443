package import Media
package import NIOCore
import RTP

/// Turns frames into RTP payloads: the one place where a track that sends chooses by codec.
///
/// The payloads of a frame, descriptors included, are for packets with consecutive sequence numbers, the last one with the marker.
/// What ``PayloadReader`` makes of them is the frame again.
package enum PayloadWriter: Sendable {
  /// With the picture id of the next frame (RFC 7741, 4.2).
  case vp8(pictureID: UInt16)
  /// With the picture id of the next frame (RFC 9628, 4.2).
  case vp9(pictureID: UInt16)
  /// Whether several NAL units may share a payload: not in packetization mode 0 (RFC 6184, 6.2).
  case h264(aggregates: Bool)
  /// A packet of audio is its own payload.
  case whole

  /// - Parameter generator: draws one number, whatever the codec is.
  package init(_ codec: Codec, using generator: inout some RandomNumberGenerator) {
    let first: UInt16 = generator.next()
    switch codec {
    case .vp8: self = .vp8(pictureID: first & 0x7FFF)
    case .vp9: self = .vp9(pictureID: first & 0x7FFF)
    case .opus, .g722, .pcmu, .pcma: self = .whole
    case .h264: self = .h264(aggregates: true)
    }
  }

  /// Follows the packetization mode of H.264 that was negotiated (RFC 6184, 6.2): in mode 0 each NAL unit has a payload of its own.
  package mutating func setPacketizationMode(_ mode: UInt8) {
    switch self {
    case .h264: self = .h264(aggregates: mode > 0)
    case .vp8, .vp9, .whole: break
    }
  }

  /// Returns the payloads of the next frame, in order; nil if the frame itself is the only payload, as it is with audio.
  ///
  /// - Parameter maximumSize: the maximum size of a payload in bytes.
  package mutating func split(_ frame: ByteBuffer, maximumSize: Int) -> [ByteBuffer]? {
    switch self {
    case .vp8(let pictureID):
      self = .vp8(pictureID: (pictureID + 1) & 0x7FFF)
      return VP8Packetizer(maximumPayloadSize: maximumSize).packetize(
        frame: frame, descriptor: VP8PayloadDescriptor(startsPartition: true, pictureID: .init(pictureID)))
    case .vp9(let pictureID):
      self = .vp9(pictureID: (pictureID + 1) & 0x7FFF)
      return VP9Packetizer(maximumPayloadSize: maximumSize).packetize(frame: frame, pictureID: pictureID)
    case .h264(let aggregates):
      return H264Packetizer(maximumPayloadSize: maximumSize, aggregates: aggregates).packetize(frame: frame)
    case .whole:
      return nil
    }
  }
}
