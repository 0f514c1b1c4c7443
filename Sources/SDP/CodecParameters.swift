package import Media

/// The parameters in `a=fmtp` by which the formats of a codec are matched, for codecs that need more than the profile in the table of codecs.
package enum CodecParameters: Sendable, Hashable {
  case h264(H264Parameters)

  /// Whether the formats of a codec have such parameters.
  package static func belong(to codec: Codec) -> Bool {
    switch codec.video {
    case .h264: true
    case .vp8, .vp9, .av1, .h265, nil: false
    }
  }

  /// Reads the parameters of a format. Nil for a codec that has none, and if one of them is not of its form.
  package init?(_ codec: Codec, _ parameters: FormatParameters) {
    switch codec.video {
    case .h264:
      guard let read = H264Parameters(parameters) else { return nil }
      self = .h264(read)
    case .vp8, .vp9, .av1, .h265, nil: return nil
    }
  }

  /// Whether we support what they describe.
  package var isSupported: Bool {
    switch self {
    case .h264(let parameters): parameters.profile != nil && parameters.packetizationMode < 2
    }
  }

  /// Our parameters in an answer to these.
  package var answer: CodecParameters {
    switch self {
    case .h264(let parameters): .h264(parameters.answer)
    }
  }

  /// The value of `a=fmtp` after the payload type.
  package var text: String {
    switch self {
    case .h264(let parameters): parameters.text
    }
  }

  /// Returns whether two formats can stand for each other: those of H.264 have one profile and one packetization mode. Levels are no part of
  /// that.
  package func isSame(as other: CodecParameters) -> Bool {
    switch (self, other) {
    case (.h264(let ours), .h264(let theirs)):
      ours.profile == theirs.profile && ours.packetizationMode == theirs.packetizationMode
    }
  }

  /// Whether we can send frames of the codec in this format: those of H.264 are larger than a packet, which mode 0 does not allow.
  package var isSendable: Bool {
    switch self {
    case .h264(let parameters): parameters.packetizationMode != 0
    }
  }

  /// Names what we do not support of a format of a codec, for people; nil if nothing is known of that.
  package static func obstacle(_ codec: Codec, _ parameters: FormatParameters) -> String? {
    switch codec.video {
    case .h264:
      let mode = parameters["packetization-mode"] ?? "0"
      if mode != "0", mode != "1" { return "packetization-mode \(mode)" }
      return "profile-level-id \(parameters["profile-level-id"] ?? "")"
    case .vp8, .vp9, .av1, .h265, nil: return nil
    }
  }
}
