import FoundationEssentials
package import JSON
package import Media

/// JSON of Socket.IO. Servers write the same field as a number, a string or a boolean.
extension JSONValue {
  /// The maximum number of values in a text, so that a short text cannot take long to decode.
  private static let maximumValues = 1_024
  private static let maximumDepth = 8
  /// The maximum length of a name, and of a run of bytes outside ASCII in it: some servers make names of those of users.
  private static let maximumName = 4_096
  private static let maximumRun = 64

  /// Parses a text of one value.
  package init(parsing text: String) throws(SocketIOParseError) {
    let limits = JSONLimits(
      values: Self.maximumValues, depth: Self.maximumDepth, nameBytes: Self.maximumName,
      nameRunOutsideASCII: Self.maximumRun)
    do {
      self = try JSONReader.decode(JSONValue.self, from: text, within: limits)
    } catch {
      switch error {
      case .tooMuch(let values, let depth): throw .tooMuchJSON(values: values, depth: depth)
      case .tooLarge(let bytes, _), .invalid(let bytes): throw .invalidJSON(bytes: bytes)
      }
    }
  }

  /// The JSON text, with keys in order and in ASCII only: then all servers agree on its length.
  package var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Numbers that JSON cannot express are never created here.
    guard let data = try? encoder.encode(self) else { return "null" }
    return String(decoding: data, as: UTF8.self).escapedToASCII
  }

  // MARK: Lenient reading

  /// A string, or a whole number as its text, because phone numbers are written in both ways.
  package var lenientText: UntrustedText? {
    switch self {
    case .string(let text): text
    case .number(let number): Int64(exactly: number).map { UntrustedText("\($0)") }
    default: nil
    }
  }

  /// `true`, a number besides 0, or a string that says the same.
  package var lenientBool: Bool? {
    switch self {
    case .bool(let value): value
    case .number(let number): number != 0
    case .string(let text):
      switch text {
      case "true", "True", "TRUE", "1", "yes": true
      case "false", "False", "FALSE", "0", "no", "": false
      default: nil
      }
    default: nil
    }
  }

  /// A whole number, or a string with one.
  package var lenientInt: Int? {
    switch self {
    case .number(let number): Int(exactly: number)
    case .string(let text): text.ascii.flatMap { Int($0) }
    default: nil
    }
  }
}

extension String {
  /// Replaces all characters outside ASCII by escapes of JSON (RFC 8259, 7).
  var escapedToASCII: String {
    if utf8.allSatisfy({ $0 < 0x80 }) { return self }
    var escaped = ""
    for unit in utf16 {
      if unit < 0x80, let scalar = Unicode.Scalar(unit) {
        escaped.unicodeScalars.append(scalar)
      } else {
        let digits = String(unit, radix: 16)
        escaped += "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
      }
    }
    return escaped
  }
}
