import FoundationEssentials
import Media

/// Reads and writes the JSON of small messages.
enum JSONText {
  /// Decodes an object after its size, depth and number of values have been checked: the decoder takes far longer than
  /// the check.
  static func decode<Value: Decodable>(
    _ type: Value.Type, from text: String, maximumBytes: Int
  ) throws(DataMessageError) -> Value {
    let bytes = text.utf8.count
    guard bytes <= maximumBytes else { throw .tooLarge(bytes: bytes, limit: maximumBytes) }
    let shape = shape(of: text)
    guard shape.depth <= DataMessageLimits.maximumJSONDepth, shape.values <= DataMessageLimits.maximumJSONValues else {
      throw .tooMuchJSON(values: shape.values, depth: shape.depth)
    }
    guard shape.longestName <= DataMessageLimits.maximumJSONNameBytes, !shape.hasZero,
      let value = try? JSONDecoder().decode(type, from: Data(text.utf8))
    else { throw .notAnObject(bytes: bytes) }
    return value
  }

  /// The number of values in objects and arrays, their depth and the length of the longest name, counted by the
  /// brackets, commas and colons outside strings. A text that is not JSON has them too.
  private static func shape(of text: String) -> (values: Int, depth: Int, longestName: Int, hasZero: Bool) {
    var (values, depth, longestName, hasZero) = (0, 0, 0, false)
    var (open, length, isInString, isEscaped) = (0, 0, false, false)
    for byte in text.utf8 {
      // JSON has no zero byte, but a text in UTF-16 has, and its brackets are not found here.
      if byte == 0 { hasZero = true }
      if isInString {
        length += 1
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): (isInString, length) = (true, 0)
      case UInt8(ascii: ":"): longestName = max(longestName, length)
      case UInt8(ascii: ","): values += 1
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        values += 1
        open += 1
        depth = max(depth, open)
      case UInt8(ascii: "}"), UInt8(ascii: "]"): open -= 1
      default: break
      }
    }
    return (values, depth, longestName, hasZero)
  }

  /// Returns a JSON string with its quotes (RFC 8259, 7). Characters outside ASCII are written as they are.
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

extension String {
  /// Returns the longest prefix of at most `limit` bytes of UTF-8, without splitting a Unicode scalar.
  ///
  /// A character may have any number of combining marks, so a cut between characters could leave nothing.
  func cutBetweenScalars(utf8Bytes limit: Int) -> String {
    if utf8.count <= limit { return self }
    var bytes = 0
    var kept = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      bytes += UTF8.width(scalar)
      if bytes > limit { break }
      kept.append(scalar)
    }
    return String(kept)
  }
}
