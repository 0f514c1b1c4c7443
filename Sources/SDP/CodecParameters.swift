package import Media

/// The parameters in `a=fmtp` by which the formats of a codec are matched, for codecs that need more than the profile in the table of codecs.
package enum CodecParameters: Sendable, Hashable {
  case h264(H264Parameters)
  case h265(H265Parameters)

  /// The parameters of H.264; nil for another codec.
  package var ofH264: H264Parameters? {
    switch self {
    case .h264(let parameters): parameters
    case .h265: nil
    }
  }

  /// Whether the formats of a codec have such parameters.
  package static func belong(to codec: Codec) -> Bool {
    switch codec.video {
    case .h264, .h265: true
    case .vp8, .vp9, .av1, nil: false
    }
  }

  /// Reads the parameters of a format. Nil for a codec that has none, and if one of them is not of its form.
  package init?(_ codec: Codec, _ parameters: FormatParameters) {
    switch codec.video {
    case .h264:
      guard let read = H264Parameters(parameters) else { return nil }
      self = .h264(read)
    case .h265:
      guard let read = H265Parameters(parameters) else { return nil }
      self = .h265(read)
    case .vp8, .vp9, .av1, nil: return nil
    }
  }

  /// Whether we support what they describe.
  package var isSupported: Bool {
    switch self {
    case .h264(let parameters): parameters.profile != nil && parameters.packetizationMode < 2
    case .h265(let parameters): parameters.isSupported
    }
  }

  /// Our parameters in an answer to these.
  package var answer: CodecParameters {
    switch self {
    case .h264(let parameters): .h264(parameters.answer)
    case .h265(let parameters): .h265(parameters.answer)
    }
  }

  /// The value of `a=fmtp` after the payload type.
  package var text: String {
    switch self {
    case .h264(let parameters): parameters.text
    case .h265(let parameters): parameters.text
    }
  }

  /// Returns whether two formats can stand for each other: they have one profile, those of H.264 one packetization mode, and those of H.265
  /// one tier. Levels are no part of that.
  package func isSame(as other: CodecParameters) -> Bool {
    switch (self, other) {
    case (.h264(let ours), .h264(let theirs)):
      ours.profile == theirs.profile && ours.packetizationMode == theirs.packetizationMode
    case (.h265(let ours), .h265(let theirs)): ours.isSame(as: theirs)
    case (.h264, .h265), (.h265, .h264): false
    }
  }

  /// Whether we can send frames of the codec in this format: those of H.264 are larger than a packet, which mode 0 does not allow.
  package var isSendable: Bool {
    switch self {
    case .h264(let parameters): parameters.packetizationMode != 0
    case .h265: true
    }
  }

  /// Names what we do not support of a format of a codec, for people; nil if nothing is known of that.
  package static func obstacle(_ codec: Codec, _ parameters: FormatParameters) -> String? {
    switch codec.video {
    case .h264:
      let mode = parameters["packetization-mode"] ?? "0"
      if mode != "0", mode != "1" { return "packetization-mode \(mode)" }
      return "profile-level-id \(parameters["profile-level-id"] ?? "")"
    case .h265: return H265Parameters.obstacle(parameters)
    case .vp8, .vp9, .av1, nil: return nil
    }
  }

  /// Returns the parameter sets that a format states, each a NAL unit: of H.264 (RFC 6184, 8.1) and of H.265 (RFC 7798, 7.1). Those that cannot
  /// be read, and those beyond the limits, are left out.
  package static func parameterSets(_ codec: Codec, _ parameters: FormatParameters) -> [[UInt8]] {
    switch codec.video {
    case .h264: parameters.parameterSets
    case .h265: parameters.h265ParameterSets
    case .vp8, .vp9, .av1, nil: []
    }
  }
}
