package import Media

/// One media section that both sides accepted.
package struct NegotiatedMedia: Sendable, Hashable {
  /// Its place among the m-lines, from 0.
  package var index: Int
  /// `a=mid`, when the remote side named it (RFC 5888).
  package var mid: String?
  package var codec: Codec
  /// Whether we send here, and whether the remote side may.
  package var sends: Bool
  package var receives: Bool

  /// The codec's payload type, both ways.
  package var payloadType: UInt8
  /// The payload type of its retransmissions (RFC 4588), when both sides speak RTX.
  package var retransmissionPayloadType: UInt8?
  package var feedback: Feedback
  package var extensions: Extensions

  /// The sources that the remote SDP announces with `a=ssrc`, each with its RTX partner from `a=ssrc-group:FID`. Empty
  /// when none are announced: then mid, rid and payload type tell.
  package var remoteSources: [RemoteSource]
  /// The names (`a=rid`) of the simulcast streams that we agreed to receive (RFC 8853); empty without simulcast.
  package var remoteStreamIDs: [String]

  /// Our own sources; the same through every renegotiation.
  package var localSSRC: UInt32
  package var localRetransmissionSSRC: UInt32?

  package var kind: MediaKind { codec.kind }

  package init(
    index: Int, mid: String? = nil, codec: Codec, sends: Bool, receives: Bool, payloadType: UInt8,
    retransmissionPayloadType: UInt8? = nil, feedback: Feedback = Feedback(), extensions: Extensions = Extensions(),
    remoteSources: [RemoteSource] = [], remoteStreamIDs: [String] = [], localSSRC: UInt32,
    localRetransmissionSSRC: UInt32? = nil
  ) {
    self.index = index
    self.mid = mid
    self.codec = codec
    self.sends = sends
    self.receives = receives
    self.payloadType = payloadType
    self.retransmissionPayloadType = retransmissionPayloadType
    self.feedback = feedback
    self.extensions = extensions
    self.remoteSources = remoteSources
    self.remoteStreamIDs = remoteStreamIDs
    self.localSSRC = localSSRC
    self.localRetransmissionSSRC = localRetransmissionSSRC
  }

  /// Feedback that both sides agreed to for the payload type (RFC 4585, 4.2).
  package struct Feedback: Sendable, Hashable {
    package var nack = false
    package var pictureLossIndication = false
    package var fullIntraRequest = false
    package var maximumBitrateEstimate = false
    package var transportWide = false

    package init() {}
  }

  /// The header extensions' ids (RFC 8285), 1 to 14, of those agreed to.
  package struct Extensions: Sendable, Hashable {
    package var mid: UInt8?
    package var streamID: UInt8?
    package var repairedStreamID: UInt8?
    package var audioLevel: UInt8?
    package var absoluteSendTime: UInt8?
    package var transportSequenceNumber: UInt8?

    package init() {}
  }

  /// A stream that the remote SDP announces, with its RTX stream if it has one.
  package struct RemoteSource: Sendable, Hashable {
    package var ssrc: UInt32
    package var retransmissionSSRC: UInt32?
    package var cname: String?

    package init(ssrc: UInt32, retransmissionSSRC: UInt32? = nil, cname: String? = nil) {
      self.ssrc = ssrc
      self.retransmissionSSRC = retransmissionSSRC
      self.cname = cname
    }
  }
}
