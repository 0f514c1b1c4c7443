package import Media
package import NIOCore
package import SDP

/// A codec of a media section, with its payload types in both directions (RFC 8866, 5.14).
package struct MediaFormat: Sendable, Hashable {
  package var codec: Codec
  package var payloadType: UInt8
  /// The payload type of its retransmissions (RFC 4588), if both sides support RTX.
  package var retransmissionPayloadType: UInt8?
  package var feedback: NegotiatedMedia.Feedback
  /// The profile, level and packetization mode of H.264, as the side that wrote the description states them; nil for other codecs.
  package var h264: H264Parameters?
  /// The parameter sets of H.264, each a NAL unit, that the remote side states in `sprop-parameter-sets` (RFC 6184, 8.1). At most 32
  /// of 1 KiB; those in the stream count more.
  package var parameterSets: [ByteBuffer] = []

  package init(
    codec: Codec, payloadType: UInt8, retransmissionPayloadType: UInt8? = nil,
    feedback: NegotiatedMedia.Feedback = NegotiatedMedia.Feedback()
  ) {
    self.codec = codec
    self.payloadType = payloadType
    self.retransmissionPayloadType = retransmissionPayloadType
    self.feedback = feedback
  }

  /// Returns whether this is the payload type of its retransmissions.
  package func isRetransmission(_ payloadType: UInt8) -> Bool { payloadType == retransmissionPayloadType }

  /// The payload types of the `m=` line, that of the media first.
  var payloadTypes: [UInt8] { [payloadType] + (retransmissionPayloadType.map { [$0] } ?? []) }
}

/// The codecs that may be negotiated, the best first.
package struct CodecPreferences: Sendable, Hashable {
  package var audio: [Codec]
  package var video: [Codec]

  /// Every codec, in the order of ``Codec/all(of:)``.
  package init() {
    self.init(audio: Codec.all(of: .audio), video: Codec.all(of: .video))
  }

  package init(audio: [Codec], video: [Codec]) {
    self.audio = audio
    self.video = video
  }

  package subscript(kind: MediaKind) -> [Codec] {
    switch kind {
    case .audio: audio
    case .video: video
    }
  }
}
