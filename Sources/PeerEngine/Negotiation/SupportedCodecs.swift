internal import Media
internal import NIOCore
internal import SDP

/// What our media sections can carry.
extension Codec {
  /// The codec's name in `a=rtpmap`.
  var encodingName: String { properties.encodingName }

  /// The value of the codec's `a=rtpmap` after the payload type, for example `opus/48000/2`.
  var encoding: String {
    "\(encodingName)/\(clockRate)" + (properties.channels.map { "/\($0)" } ?? "")
  }

  /// The same for RED that repeats the codec.
  var redundancyEncoding: String {
    "\(RedundancyFormat.encodingName)/\(clockRate)" + (properties.channels.map { "/\($0)" } ?? "")
  }

  /// Returns the parameters of `a=fmtp` for a format of the codec that has no parameters of H.264; nil if there are none.
  func formatParameters(of format: MediaFormat, stereo: Bool) -> String? {
    let parameters = [
      parameters(profile: format.profile), stereo ? properties.stereoParameter : nil,
    ].compactMap(\.self)
    return parameters.isEmpty ? nil : parameters.joined(separator: ";")
  }

  /// Returns the parameters of our offers in which the profile has a value, or those of the preferred format.
  private func parameters(profile: String?) -> String? {
    let formats = properties.formats
    guard let name = properties.profile?.name, let profile else { return formats.first?.parameters }
    let stated = formats.first { FormatParameters(parsing: $0.parameters ?? "")[name] == profile }
    return (stated ?? formats.first)?.parameters
  }

  /// Returns whether a format has the codec's name and clock rate, in whatever profile. G.711 and G.722 have one channel here, of which
  /// each byte is one tick (RFC 3551, 4.5).
  func isNamed(in format: PayloadFormat) -> Bool {
    format.isCodec(encodingName, clockRate: UInt32(clockRate)) && !hasUnknownChannels(format)
  }

  /// Returns whether a format has several channels of a codec that has one here.
  private func hasUnknownChannels(_ format: PayloadFormat) -> Bool {
    kind == .audio && properties.channels == nil && format.channels ?? 1 != 1
  }

  /// Returns a format of a remote description as one of this codec; nil if it is another codec, or a profile or packetization mode that
  /// we do not support.
  func format(_ format: PayloadFormat) -> MediaFormat? {
    guard isNamed(in: format) else { return nil }
    var media = MediaFormat(
      codec: self, payloadType: format.payloadType, feedback: NegotiatedMedia.Feedback(parsing: format.feedback))
    if let profile = properties.profile, let value = format.parameters[profile.name] {
      guard profile.values.contains(value) else { return nil }
      media.profile = value
    }
    guard CodecParameters.belong(to: self) else { return media }
    guard let parameters = CodecParameters(self, format.parameters), parameters.isSupported else { return nil }
    media.parameters = parameters
    media.parameterSets = CodecParameters.parameterSets(self, format.parameters).map { ByteBuffer(bytes: $0) }
    return media
  }

  /// The codec's formats in our offers, the preferred one first, with their usual payload types.
  var offeredFormats: [MediaFormat] {
    properties.formats.map { offered in
      var format = MediaFormat(
        codec: self, payloadType: offered.payloadType, retransmissionPayloadType: offered.retransmissionPayloadType,
        feedback: .all(for: self))
      let parameters = FormatParameters(parsing: offered.parameters ?? "")
      if let value = properties.profile.flatMap({ parameters[$0.name] }) { format.profile = value }
      format.parameters = CodecParameters(self, parameters)
      return format
    }
  }

  /// Names a format that has the codec's name but that we do not support, by what we do not support.
  fileprivate func name(ofUnsupported format: PayloadFormat) -> String {
    if hasUnknownChannels(format), let channels = format.channels {
      return "\(format.name)/\(format.clockRate)/\(channels)"
    }
    if format.clockRate != UInt32(clockRate) { return "\(format.name)/\(format.clockRate)" }
    if let profile = properties.profile, let value = format.parameters[profile.name] {
      return "\(format.name) with \(profile.name) \(value)"
    }
    let obstacle = CodecParameters.obstacle(self, format.parameters).map { " with \($0)" }
    return format.name + (obstacle ?? "/\(format.clockRate)")
  }

  /// Whether formats with this name accompany a codec: retransmissions, redundancy, comfort noise and keypad tones.
  static func isAuxiliary(_ name: String) -> Bool {
    ["rtx", "red", "ulpfec", "flexfec-03", "flexfec", "cn", "telephone-event"].contains(name.lowercased())
  }
}

extension MediaSection {
  /// The names of the offered codecs, for people. A payload type without a name is named by its number, and a codec that we support
  /// in another form with its clock rate, its profile or its packetization mode.
  func codecNames(besides supported: [Codec]) -> [String] {
    let formats = payloadFormats
    let codecs = formats.filter { !Codec.isAuxiliary($0.name) }.map { format in
      let known = supported.first { $0.encodingName.lowercased() == format.name.lowercased() }
      return known?.name(ofUnsupported: format) ?? format.name
    }
    let mapped = Set(formats.map { String($0.payloadType) })
    let unmapped = mediaLine.formats.filter { !mapped.contains($0) && $0.isDecimal }.map { "payload type \($0)" }
    return codecs + unmapped
  }
}
