/// The size and depth of a JSON text, found without decoding it, which takes a hundred times as long. Pure.
///
/// A text that is not JSON has a shape too; the decoder rejects it later.
package struct JSONShape: Sendable, Hashable {
  /// The number of values in objects and arrays, counted by the commas and brackets outside strings.
  package private(set) var values = 0
  /// The nesting depth of objects and arrays.
  package private(set) var depth = 0
  /// The length of the longest name of a value, in bytes as written.
  package private(set) var longestName = 0
  /// The most bytes in a row that are not ASCII in a name. An escape such as `\u0301` counts as two.
  package private(set) var longestRunInName = 0
  /// Whether there is a zero byte. JSON never has one, but texts in UTF-16 do, and their quotes and brackets are not
  /// found here.
  package private(set) var hasZero = false

  /// A string that is read. It is a name if a colon follows.
  private struct Text {
    var length = 0
    var run = 0
    var longestRun = 0

    mutating func append(isASCII: Bool, bytes: Int = 1) {
      run = isASCII ? 0 : run + bytes
      longestRun = max(longestRun, run)
    }
  }

  package init(_ bytes: some Sequence<UInt8>) {
    var isInString = false
    var isEscaped = false
    var open = 0
    var text = Text()
    // The digits of an escape that are still to come, and its value so far.
    var (digits, value) = (0, 0)
    for byte in bytes {
      if byte == 0 { hasZero = true }
      if isInString {
        text.length += 1
        if digits > 0 {
          digits -= 1
          value = value << 4 | Self.value(ofDigit: byte)
          if digits == 0 { text.append(isASCII: value < 0x80, bytes: 2) }
          // The quote of a broken escape ends the string for a decoder.
          if byte == UInt8(ascii: "\"") { (isInString, digits) = (false, 0) }
        } else if isEscaped {
          isEscaped = false
          if byte == UInt8(ascii: "u") { (digits, value) = (4, 0) } else { text.append(isASCII: true) }
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
          text.length -= 1
        } else {
          text.append(isASCII: byte < 0x80)
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): (isInString, text) = (true, Text())
      case UInt8(ascii: ":"):
        longestName = max(longestName, text.length)
        longestRunInName = max(longestRunInName, text.longestRun)
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        values += 1
        open += 1
        depth = max(depth, open)
      case UInt8(ascii: "}"), UInt8(ascii: "]"): open -= 1
      case UInt8(ascii: ","): values += 1
      default: break
      }
    }
  }

  private static func value(ofDigit byte: UInt8) -> Int {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(byte - UInt8(ascii: "a")) + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(byte - UInt8(ascii: "A")) + 10
    default: 0xFF
    }
  }
}
