internal import Media
internal import SDP

/// What our media sections can carry.
extension Codec {
  /// The codec's name in `a=rtpmap`.
  var encodingName: String { properties.encodingName }

  /// The value of the codec's `a=rtpmap` after the payload type, for example `opus/48000/2`.
  var encoding: String {
    "\(encodingName)/\(clockRate)" + (properties.channels.map { "/\($0)" } ?? "")
  }

  /// Returns the parameters of the codec's `a=fmtp`; nil if there are none.
  func formatParameters(stereo: Bool) -> String? {
    let parameters = [properties.formatParameters, stereo ? properties.stereoParameter : nil].compactMap(\.self)
    return parameters.isEmpty ? nil : parameters.joined(separator: ";")
  }

  /// Returns the format of a section that carries this codec, in the profile that we support.
  func format(in formats: [PayloadFormat]) -> PayloadFormat? {
    formats.first { format in
      guard format.isCodec(encodingName, clockRate: UInt32(clockRate)) else { return false }
      return properties.profile.map { (format.parameters[$0.name] ?? $0.value) == $0.value } ?? true
    }
  }

  /// Whether formats with this name accompany a codec: retransmissions, redundancy, comfort noise and keypad tones.
  static func isAuxiliary(_ name: String) -> Bool {
    ["rtx", "red", "ulpfec", "flexfec-03", "flexfec", "cn", "telephone-event"].contains(name.lowercased())
  }
}

extension MediaSection {
  /// The names of the offered codecs, for people. A payload type without a name is named by its number, and a codec that we support at another clock rate with that rate.
  func codecNames(besides supported: [Codec]) -> [String] {
    let formats = payloadFormats
    let known = supported.map { $0.encodingName.lowercased() }
    let codecs = formats.filter { !Codec.isAuxiliary($0.name) }.map { format in
      known.contains(format.name.lowercased()) ? "\(format.name)/\(format.clockRate)" : format.name
    }
    let mapped = Set(formats.map { String($0.payloadType) })
    let unmapped = mediaLine.formats.filter { !mapped.contains($0) && $0.isDecimal }.map { "payload type \($0)" }
    return codecs + unmapped
  }
}
