/// What SDP, signalling, files and texts say of a codec, and which of our parts read and write it: one row of the table below.
package struct CodecProperties: Sendable {
  /// The usual name in texts.
  package let name: String
  /// The name in `a=rtpmap` (RFC 8866, 6.6), which is compared without regard to case.
  package let encodingName: String
  /// The rate of the decoded audio in Hz, which need not be that of the RTP clock; nil for video.
  package let sampleRate: Int32?
  /// The number of channels in `a=rtpmap`; nil if it is left out there.
  package let channels: Int?
  /// The codec's formats in our offers, the preferred one first; at least one.
  package let formats: [Format]
  /// The payload type of RED with copies of its frames (RFC 2198) in our offers, if no other section uses it; nil if none is offered.
  package let redundancyPayloadType: UInt8?
  /// The values of `a=rtcp-fb` that we support (RFC 4585, 4.2).
  package let feedback: [String]
  /// The parameter of `a=fmtp` that states the profile, and the values of it that we support; the first one is meant where the parameter
  /// is missing, and is the only one that we send. Nil if every format with the name can be used.
  package let profile: (name: String, values: [String])?
  /// The parameter of `a=fmtp` by which we ask for stereo; nil if the codec has none.
  package let stereoParameter: String?
  /// The codec id of a Matroska or WebM track (RFC 9559, 5.1.4.1.21).
  package let matroskaID: String
  /// The four characters in an IVF file's header; nil if the codec is not stored in IVF.
  package let fourCC: String?
  /// What reads the frames of video; nil for audio.
  package let bitstream: (any VideoBitstream.Type)?
  /// The decoder in this process; nil where a process of `chatbot-media` decodes files of the codec.
  package let decoder: Library?
  /// The encoder of live video, or of our audio; nil for a codec that is only sent from files.
  package let encoder: Library?
  /// Whether frames of a stream may be stored in another order than that in which they are shown.
  package let canReorderFrames: Bool
  /// Whether receivers cannot be expected to decode the codec, so that a file is sent in it only if its name is given.
  package var isRarelyDecoded = false
  /// Whether WebM allows the codec, not only Matroska.
  package var isAllowedInWebM = false
  /// The codec's name in FFmpeg; nil if it is that of ours.
  package var ffmpegName: String?

  /// What decodes or encodes.
  package enum Library: Sendable, Hashable {
    case libopus
    /// libvpx for VP8, and for VP9.
    case libvpxVP8, libvpxVP9
    /// A process of `chatbot-media`, which encodes H.264.
    case worker
  }

  /// A format in our offers.
  package struct Format: Sendable {
    /// The payload type, if no other section uses it.
    package let payloadType: UInt8
    /// The payload type of retransmissions (RFC 4588); nil if none are offered.
    package let retransmissionPayloadType: UInt8?
    /// The parameters of `a=fmtp`; nil without any.
    package let parameters: String?

    fileprivate init(_ payloadType: UInt8, retransmission: UInt8? = nil, _ parameters: String? = nil) {
      self.payloadType = payloadType
      retransmissionPayloadType = retransmission
      self.parameters = parameters
    }
  }

  /// Opus: RFC 7587, 4.1 (clock) and 7 (SDP).
  private static let opus = CodecProperties(
    name: "Opus", encodingName: "opus", sampleRate: 48_000, channels: 2,
    formats: [Format(111, "minptime=10;useinbandfec=1")], redundancyPayloadType: 63,
    feedback: ["transport-cc", "nack"],
    profile: nil, stereoParameter: "stereo=1", matroskaID: "A_OPUS", fourCC: nil,
    bitstream: nil, decoder: .libopus, encoder: .libopus, canReorderFrames: false, isAllowedInWebM: true)

  /// VP8: RFC 7741, 4.1 (clock) and 6 (SDP).
  private static let vp8 = CodecProperties(
    name: "VP8", encodingName: "VP8", sampleRate: nil, channels: nil,
    formats: [Format(96, retransmission: 97)], redundancyPayloadType: nil,
    feedback: ["goog-remb", "transport-cc", "ccm fir", "nack", "nack pli"],
    profile: nil, stereoParameter: nil, matroskaID: "V_VP8", fourCC: "VP80",
    bitstream: VP8Bitstream.self, decoder: .libvpxVP8, encoder: .libvpxVP8, canReorderFrames: false,
    isAllowedInWebM: true)

  /// VP9: RFC 9628, 6 (clock and SDP). Profile 0 is 8 bits, 4:2:0; profile 2 is 10 or 12 bits, 4:2:0.
  private static let vp9 = CodecProperties(
    name: "VP9", encodingName: "VP9", sampleRate: nil, channels: nil,
    formats: [
      Format(98, retransmission: 99, "profile-id=0"), Format(100, retransmission: 101, "profile-id=2"),
    ], redundancyPayloadType: nil,
    feedback: ["goog-remb", "transport-cc", "ccm fir", "nack", "nack pli"],
    profile: ("profile-id", ["0", "2"]), stereoParameter: nil, matroskaID: "V_VP9", fourCC: "VP90",
    bitstream: VP9Bitstream.self, decoder: .libvpxVP9, encoder: .libvpxVP9, canReorderFrames: false,
    isAllowedInWebM: true)

  /// AV1: "RTP Payload Format For AV1", 7 (SDP). Profile 0 is main: 8 or 10 bits, 4:2:0. Level and tier need not agree.
  private static let av1 = CodecProperties(
    name: "AV1", encodingName: "AV1", sampleRate: nil, channels: nil,
    formats: [Format(106, retransmission: 107, "level-idx=13;profile=0;tier=0")], redundancyPayloadType: nil,
    feedback: ["goog-remb", "transport-cc", "ccm fir", "nack", "nack pli"],
    profile: ("profile", ["0"]), stereoParameter: nil, matroskaID: "V_AV1", fourCC: "AV01",
    bitstream: AV1Bitstream.self, decoder: nil, encoder: nil, canReorderFrames: false, isAllowedInWebM: true)

  /// H.265: RFC 7798, 7.1. Main and main 10 profile, each with level 6.
  private static let h265 = CodecProperties(
    name: "H.265", encodingName: "H265", sampleRate: nil, channels: nil,
    formats: [
      Format(118, retransmission: 119, "level-id=180;profile-id=1;tier-flag=0;tx-mode=SRST"),
      Format(120, retransmission: 121, "level-id=180;profile-id=2;tier-flag=0;tx-mode=SRST"),
    ],
    redundancyPayloadType: nil, feedback: ["goog-remb", "transport-cc", "ccm fir", "nack", "nack pli"],
    profile: nil, stereoParameter: nil, matroskaID: "V_MPEGH/ISO/HEVC", fourCC: nil,
    bitstream: H265Bitstream.self, decoder: nil, encoder: nil, canReorderFrames: true, isRarelyDecoded: true,
    ffmpegName: "hevc")

  /// H.264: RFC 6184, 8.1. Constrained baseline, main and constrained high profile, each with level 5.2.
  private static let h264 = CodecProperties(
    name: "H.264", encodingName: "H264", sampleRate: nil, channels: nil,
    formats: [
      Format(
        108, retransmission: 109, "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e034"),
      Format(
        116, retransmission: 117, "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=4d0034"),
      Format(
        112, retransmission: 113, "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=640c34"),
    ],
    redundancyPayloadType: nil, feedback: ["goog-remb", "transport-cc", "ccm fir", "nack", "nack pli"],
    profile: nil, stereoParameter: nil, matroskaID: "V_MPEG4/ISO/AVC",
    fourCC: nil, bitstream: H264Bitstream.self, decoder: nil, encoder: .worker, canReorderFrames: true)

  /// G.722: RFC 3551, 4.5.2 and 6. Its RTP clock is 8,000 Hz.
  private static let g722 = CodecProperties(
    name: "G.722", encodingName: "G722", sampleRate: 16_000, channels: nil,
    formats: [Format(9)], redundancyPayloadType: nil, feedback: ["transport-cc", "nack"],
    profile: nil, stereoParameter: nil, matroskaID: "A_MS/ACM", fourCC: nil,
    bitstream: nil, decoder: nil, encoder: nil, canReorderFrames: false)

  /// G.711, µ-law: RFC 3551, 4.5.14 and 6.
  private static let pcmu = CodecProperties(
    name: "PCMU", encodingName: "PCMU", sampleRate: 8_000, channels: nil,
    formats: [Format(0)], redundancyPayloadType: nil, feedback: ["transport-cc", "nack"],
    profile: nil, stereoParameter: nil, matroskaID: "A_MS/ACM", fourCC: nil,
    bitstream: nil, decoder: nil, encoder: nil, canReorderFrames: false)

  /// G.711, A-law: RFC 3551, 4.5.14 and 6.
  private static let pcma = CodecProperties(
    name: "PCMA", encodingName: "PCMA", sampleRate: 8_000, channels: nil,
    formats: [Format(8)], redundancyPayloadType: nil, feedback: ["transport-cc", "nack"],
    profile: nil, stereoParameter: nil, matroskaID: "A_MS/ACM", fourCC: nil,
    bitstream: nil, decoder: nil, encoder: nil, canReorderFrames: false)

  /// Returns the row of a codec.
  fileprivate static func row(of codec: Codec) -> CodecProperties {
    switch codec {
    case .opus: opus
    case .g722: g722
    case .pcmu: pcmu
    case .pcma: pcma
    case .vp8: vp8
    case .h264: h264
    case .vp9: vp9
    case .av1: av1
    case .h265: h265
    }
  }
}

extension Codec {
  /// The codec's row of the table.
  package var properties: CodecProperties { CodecProperties.row(of: self) }

  /// Returns the codecs of a kind, the best first.
  package static func all(of kind: MediaKind) -> [Codec] { allCases.filter { $0.kind == kind } }

  /// The codecs of video that we encode live, the best first.
  package static var encodedLive: [Codec] { all(of: .video).filter { $0.properties.encoder != nil } }

  /// Returns the codec that we offer and publish for a kind of media.
  package static func preferred(for kind: MediaKind) -> Codec {
    switch kind {
    case .audio: .opus
    case .video: .vp8
    }
  }
}
