import JSON
import Media

/// Reads and writes the JSON of small messages.
enum JSONText {
  /// Decodes an object of one message.
  static func decode<Value: Decodable>(
    _ type: Value.Type, from text: String, maximumBytes: Int
  ) throws(DataMessageError) -> Value {
    let limits = JSONLimits(
      bytes: maximumBytes, values: DataMessageLimits.maximumJSONValues, depth: DataMessageLimits.maximumJSONDepth,
      nameBytes: DataMessageLimits.maximumJSONNameBytes)
    do {
      return try JSONReader.decode(type, from: text, within: limits)
    } catch {
      switch error {
      case .tooLarge(let bytes, let limit): throw .tooLarge(bytes: bytes, limit: limit)
      case .tooMuch(let values, let depth): throw .tooMuchJSON(values: values, depth: depth)
      case .invalid(let bytes): throw .notAnObject(bytes: bytes)
      }
    }
  }

  /// Returns a JSON string with its quotes (RFC 8259, 7). Characters outside ASCII are written as they are.
  static func quoted(_ text: UntrustedText) -> String { quoted(text.string) }

  static func quoted(_ text: String) -> String {
    let needsEscape = { (byte: UInt8) in byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") }
    guard text.utf8.contains(where: needsEscape) else { return "\"\(text)\"" }
    let digits = Array("0123456789abcdef".utf8)
    var bytes: [UInt8] = [UInt8(ascii: "\"")]
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case UInt8(ascii: "\n"): bytes += Array(#"\n"#.utf8)
      case UInt8(ascii: "\r"): bytes += Array(#"\r"#.utf8)
      case UInt8(ascii: "\t"): bytes += Array(#"\t"#.utf8)
      case 0..<0x20: bytes += Array(#"\u00"#.utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns a JSON number; 0 for a value that JSON cannot express.
  static func number(_ value: Double) -> String {
    guard value.isFinite else { return "0" }
    if let whole = Int64(exactly: value) { return "\(whole)" }
    return "\(value)"
  }
}
