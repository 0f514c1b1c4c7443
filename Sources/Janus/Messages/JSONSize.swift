/// The number of values and the depth of a JSON text, found without decoding it, which takes far longer. Pure.
///
/// A text that is not JSON has a size too; the decoder rejects it later.
struct JSONSize: Sendable, Hashable {
  /// The number of values in objects and arrays, counted by the commas and brackets outside strings.
  private(set) var values = 0
  /// The nesting depth of objects and arrays.
  private(set) var depth = 0
  /// The length of the longest name of a value, in bytes as written. The decoder hashes names.
  private(set) var longestName = 0
  /// Whether there is a zero byte. JSON never has one, but texts in UTF-16 do, and their brackets are not found here.
  private(set) var hasZero = false

  init(_ text: String) {
    var isInString = false
    var isEscaped = false
    var open = 0
    var length = 0
    for byte in text.utf8 {
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
      case UInt8(ascii: "\""):
        isInString = true
        length = 0
      case UInt8(ascii: ":"):
        longestName = max(longestName, length)
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        values += 1
        open += 1
        depth = max(depth, open)
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        open -= 1
      case UInt8(ascii: ","):
        values += 1
      default:
        break
      }
    }
  }
}
