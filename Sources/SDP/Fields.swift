/// Splitting of text at ASCII bytes. It works on UTF-8, because a separator followed by a combining mark is one
/// `Character`, which a search by characters would not find.
extension String {
  /// Returns the pieces between `separator`s; empty pieces are left out unless requested.
  package func fields(
    separatedBy separator: Unicode.Scalar = " ", maximum: Int = .max, keepingEmpty: Bool = false
  ) -> [String] {
    utf8.split(
      separator: UInt8(ascii: separator), maxSplits: maximum - 1, omittingEmptySubsequences: !keepingEmpty
    ).map { String(Substring($0)) }
  }

  /// Returns the text before and after the first `separator`, or nil without one.
  package func cut(at separator: Unicode.Scalar) -> (before: String, after: String)? {
    guard let position = utf8.firstIndex(of: UInt8(ascii: separator)) else { return nil }
    let next = utf8.index(after: position)
    return (String(self[..<position]), String(self[next...]))
  }

  /// The text without white space at its ends, including carriage returns, because some programs write two at the end
  /// of a line.
  package var trimmed: String {
    let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || (0x09...0x0D).contains(byte) }
    guard let first = utf8.firstIndex(where: { !isSpace($0) }), let last = utf8.lastIndex(where: { !isSpace($0) })
    else { return "" }
    return String(self[first...last])
  }

  /// Whether the text consists of one or more decimal digits.
  package var isDecimal: Bool {
    !isEmpty && utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }
}
