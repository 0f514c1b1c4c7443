/// One payload type of a media section, with all that the section says of it.
package struct PayloadFormat: Sendable, Hashable {
  /// 0 to 127.
  package var payloadType: UInt8
  /// The codec's name as written in `a=rtpmap` (RFC 8866, 6.6), for example `VP8`; compare without regard to case.
  package var name: String
  /// Ticks a second.
  package var clockRate: UInt32
  /// The number of channels, if written; for Opus always 2 (RFC 7587, 7).
  package var channels: Int?
  /// The parameters of `a=fmtp`.
  package var parameters: FormatParameters
  /// The values of `a=rtcp-fb`, for example `nack pli` (RFC 4585, 4.2), those for all payload types included.
  package var feedback: [String]

  package init(
    payloadType: UInt8, name: String, clockRate: UInt32, channels: Int? = nil,
    parameters: FormatParameters = FormatParameters(), feedback: [String] = []
  ) {
    self.payloadType = payloadType
    self.name = name
    self.clockRate = clockRate
    self.channels = channels
    self.parameters = parameters
    self.feedback = feedback
  }

  /// Whether this is the codec of that name and clock rate.
  package func isCodec(_ name: String, clockRate: UInt32) -> Bool {
    self.clockRate == clockRate && self.name.lowercased() == name.lowercased()
  }

  /// The payload type that an RTX format retransmits (RFC 4588, 8.1).
  package var associatedPayloadType: UInt8? {
    guard name.lowercased() == "rtx" else { return nil }
    return parameters["apt"].flatMap { UInt8($0) }
  }
}
