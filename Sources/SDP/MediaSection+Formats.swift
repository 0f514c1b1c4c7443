extension MediaSection {
  /// The payload types of the `m=` line that have an `a=rtpmap`, in the line's order, most wanted first.
  package var payloadFormats: [PayloadFormat] {
    var formats: [UInt8: PayloadFormat] = [:]
    for value in attributes("rtpmap") {
      guard let format = PayloadFormat(parsingMap: value), formats[format.payloadType] == nil else { continue }
      formats[format.payloadType] = format
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

  /// The payload type at the start of a value, and what follows it.
  private static func payloadType(of value: String) -> (payloadType: UInt8, rest: String)? {
    guard let (before, rest) = value.cut(at: " "), let payloadType = UInt8(before), payloadType < 128 else {
      return nil
    }
    return (payloadType, rest)
  }
}

extension PayloadFormat {
  /// Far above what any program writes for one payload type; it bounds the work that a hostile description makes.
  fileprivate static let maximumFeedback = 32

  fileprivate mutating func addFeedback(_ value: String) {
    if feedback.count < Self.maximumFeedback { feedback.append(value) }
  }

  /// Reads the value of `a=rtpmap`, for example `111 opus/48000/2`.
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
