/// One payload type of a media section, with its attributes.
package struct PayloadFormat: Sendable, Hashable {
  /// 0 to 127.
  package var payloadType: UInt8
  /// The codec's name as written in `a=rtpmap` (RFC 8866, 6.6), for example `VP8`; compare without regard to case.
  package var name: String
  /// The clock rate in ticks per second.
  package var clockRate: UInt32
  /// The number of channels, if written; for Opus always 2 (RFC 7587, 7).
  package var channels: Int?
  /// The parameters of `a=fmtp`.
  package var parameters: FormatParameters
  /// The values of `a=rtcp-fb`, for example `nack pli` (RFC 4585, 4.2), including those for all payload types.
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

  /// Whether this is the codec with that name and clock rate.
  package func isCodec(_ name: String, clockRate: UInt32) -> Bool {
    self.clockRate == clockRate && self.name.lowercased() == name.lowercased()
  }

  /// The payload type that an RTX format retransmits (RFC 4588, 8.1).
  package var associatedPayloadType: UInt8? {
    guard name.lowercased() == "rtx" else { return nil }
    return parameters["apt"].flatMap { UInt8($0) }
  }
}

/// The value of `a=fmtp` after the payload type, as `name=value` pairs (RFC 8866, 6.15).
package struct FormatParameters: Sendable, Hashable {
  /// The pairs in order; the value is nil if only a name, or a list such as `0-15`, is written.
  package var pairs: [Pair]

  package struct Pair: Sendable, Hashable {
    package var name: String
    package var value: String?
  }

  package init() {
    pairs = []
  }

  /// Far above what any program writes; further text becomes part of the last pair.
  private static let maximumPairs = 64

  package init(parsing text: String) {
    pairs = text.fields(separatedBy: ";", maximum: Self.maximumPairs).map { field in
      guard let (name, value) = field.cut(at: "=") else { return Pair(name: field.trimmed, value: nil) }
      return Pair(name: name.trimmed, value: value.trimmed)
    }
  }

  /// The value of the first parameter with that name, compared without regard to case.
  package subscript(name: String) -> String? {
    let wanted = name.lowercased()
    return pairs.first { $0.name.lowercased() == wanted }?.value
  }
}

extension MediaSection {
  /// The payload types of the `m=` line that have an `a=rtpmap` or are static, in the order of the line, which is that of preference.
  package var payloadFormats: [PayloadFormat] {
    var formats: [UInt8: PayloadFormat] = [:]
    for value in attributes("rtpmap") {
      guard let format = PayloadFormat(parsingMap: value), formats[format.payloadType] == nil else { continue }
      formats[format.payloadType] = format
    }
    for payloadType in mediaLine.formats.lazy.compactMap({ UInt8($0) }) where formats[payloadType] == nil {
      formats[payloadType] = PayloadFormat(staticType: payloadType)
    }
    for value in attributes("fmtp") {
      guard let (payloadType, rest) = Self.payloadType(of: value) else { continue }
      formats[payloadType]?.parameters = FormatParameters(parsing: rest)
    }
    var wildcards = 0
    for value in attributes("rtcp-fb") {
      if let (before, rest) = value.cut(at: " "), before == "*" {
        wildcards += 1
        guard wildcards <= PayloadFormat.maximumFeedback else { continue }
        for payloadType in formats.keys {
          formats[payloadType]?.addFeedback(rest.trimmed)
        }
      } else if let (payloadType, rest) = Self.payloadType(of: value) {
        formats[payloadType]?.addFeedback(rest.trimmed)
      }
    }
    return mediaLine.formats.compactMap { text in
      UInt8(text).flatMap { formats.removeValue(forKey: $0) }
    }
  }

  /// Returns the payload type at the start of a value, and the text after it.
  private static func payloadType(of value: String) -> (payloadType: UInt8, rest: String)? {
    guard let (before, rest) = value.cut(at: " "), let payloadType = UInt8(before), payloadType < 128 else {
      return nil
    }
    return (payloadType, rest)
  }
}

extension PayloadFormat {
  /// Far above what any program writes for one payload type; it limits the work that a hostile description causes.
  fileprivate static let maximumFeedback = 32

  fileprivate mutating func addFeedback(_ value: String) {
    if feedback.count < Self.maximumFeedback { feedback.append(value) }
  }

  /// Parses the value of `a=rtpmap`, for example `111 opus/48000/2`.
  init?(parsingMap text: String) {
    let fields = text.fields()
    guard fields.count == 2, let payloadType = UInt8(fields[0]), payloadType < 128 else { return nil }
    let parts = fields[1].fields(separatedBy: "/", keepingEmpty: true)
    guard parts.count >= 2, !parts[0].isEmpty, let clockRate = UInt32(parts[1]), clockRate > 0 else { return nil }
    self.init(
      payloadType: payloadType, name: parts[0], clockRate: clockRate,
      channels: parts.count > 2 ? Int(parts[2]) : nil)
  }
}
