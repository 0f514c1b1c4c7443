/// How much there is in a JSON text, found without decoding it, which costs a hundred times as much. Pure.
///
/// A text that is no JSON has some shape as well; the decoder refuses it.
struct JSONShape: Sendable, Hashable {
  /// Values of objects and lists, counted by the commas and brackets outside of strings.
  private(set) var values = 0
  /// Objects and lists in each other.
  private(set) var depth = 0
  /// Bytes of the longest name of a value, as it is written.
  private(set) var longestName = 0
  /// A byte that JSON never has, but texts in UTF-16 do, whose quotes and brackets are elsewhere.
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
