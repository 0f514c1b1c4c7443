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
  /// The value of the codec's parameter that states the profile, for example `2` for VP9 of 10 bits; nil for codecs without one in the table
  /// of codecs.
  package var profile: String?
  /// The profile, level and packetization mode of H.264, and what corresponds to them of other codecs; nil for those that have none. In what
  /// was negotiated they are those that we state.
  package var parameters: CodecParameters?
  /// The parameter sets of H.264 or H.265, each a NAL unit, that the remote side states (RFC 6184, 8.1; RFC 7798, 7.1). At most 32
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
    profile = codec.properties.profile?.values.first
  }

  /// Returns whether this is the payload type of its retransmissions.
  package func isRetransmission(_ payloadType: UInt8) -> Bool { payloadType == retransmissionPayloadType }

  /// The parameters of H.264; nil for other codecs.
  package var h264: H264Parameters? { parameters?.ofH264 }

  /// Returns whether two formats can stand for each other: they have one codec and one profile, and parameters that can.
  func isSame(as other: MediaFormat) -> Bool {
    guard codec == other.codec, profile == other.profile else { return false }
    guard let parameters, let theirs = other.parameters else { return (parameters == nil) == (other.parameters == nil) }
    return parameters.isSame(as: theirs)
  }

  /// Whether we can send frames of the codec's usual profile in this format.
  var isUsual: Bool { allowsLargeFrames && profile == codec.properties.profile?.values.first }

  /// Whether a frame may be larger than a packet, which the packetization mode 0 of H.264 does not allow.
  var allowsLargeFrames: Bool { parameters?.isSendable ?? true }

  /// The payload types of the `m=` line, that of the media first.
  var payloadTypes: [UInt8] { [payloadType] + (retransmissionPayloadType.map { [$0] } ?? []) }
}

/// Packets with copies of earlier frames (RED, RFC 2198).
struct RedundancyFormat: Sendable, Hashable {
  /// The payload type of the packets.
  var payloadType: UInt8
  /// The payload type of all blocks in them.
  var blockPayloadType: UInt8

  /// The name in `a=rtpmap`.
  static let encodingName = "red"
  /// The number of blocks that we ask for in the parameters of the format: a frame and a copy of the one before.
  static let blocks = 2
}

/// Which codecs are negotiated, and what is preferred.
package struct CodecPreferences: Sendable, Hashable {
  /// The only codecs that may be negotiated, the best first; nil for every codec. Without this order our offers have the order of
  /// ``Codec/all(of:)``, and our answers choose by the order of the participant's offer.
  package var audio: [Codec]?
  package var video: [Codec]?
  /// The codec of all frames of a kind that we send; a kind without one sends what its frames are.
  package var sent: [MediaKind: Codec] = [:]
  /// Whether an answer has a format of each codec in a section in which we only send: for frames that are forwarded, whose codec is not
  /// known yet, or may change.
  package var answersWithEachCodec = false
  /// Whether frames of each profile that we receive can be sent: those that are forwarded have the profile of their sender. Else we send
  /// only the usual one.
  package var sendsEachProfile = false
  /// Whether audio is accepted and offered with copies of earlier frames (RED, RFC 2198).
  package var acceptsRedundantAudio = false

  package init(audio: [Codec]? = nil, video: [Codec]? = nil) {
    self.audio = audio
    self.video = video
  }

  /// The codecs of a kind that may be negotiated, in the order of our offers.
  package subscript(kind: MediaKind) -> [Codec] { chosen(kind) ?? Codec.all(of: kind) }

  /// Returns whether we can send frames of our source in a format of its codec.
  func canSend(_ format: MediaFormat) -> Bool { sendsEachProfile ? format.allowsLargeFrames : format.isUsual }

  /// The codecs of a kind that somebody chose; nil if nobody did.
  func chosen(_ kind: MediaKind) -> [Codec]? {
    switch kind {
    case .audio: audio
    case .video: video
    }
  }
}
