extension String {
  /// Returns the text in a form that is safe in a log or on a terminal: at most `limit` bytes, with control characters,
  /// line ends and direction marks escaped. For all text from outside.
  ///
  /// - Parameter kept: scalars that are not escaped in any case.
  package func printable(utf8Bytes limit: Int = 200, keeping kept: Set<Unicode.Scalar> = []) -> String {
    var shown = ""
    for scalar in prefix(utf8Bytes: limit).unicodeScalars {
      switch scalar.value {
      case 0x20..<0x7F:
        shown.unicodeScalars.append(scalar)
        continue
      case _ where kept.contains(scalar):
        shown.unicodeScalars.append(scalar)
        continue
      default: break
      }
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
        shown += "\\u{\(String(scalar.value, radix: 16))}"
      default:
        shown.unicodeScalars.append(scalar)
      }
    }
    return shown
  }
}

extension String {
  /// Returns the longest prefix of at most `limit` bytes of UTF-8, without splitting a Unicode scalar, and without splitting a
  /// character unless less than half would be left: a character may have any number of combining marks.
  ///
  /// Takes a time that depends on the limit only.
  package func prefix(utf8Bytes limit: Int) -> String {
    if utf8.count <= limit { return self }
    var end = utf8.index(startIndex, offsetBy: max(0, limit))
    while end > startIndex, utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
    // The character that the next scalar belongs to begins at the end, or before it.
    let extended = String(self[..<unicodeScalars.index(after: end)])
    let last = extended.utf8.distance(from: extended.startIndex, to: extended.index(before: extended.endIndex))
    if last >= limit / 2, last > 0 { end = min(end, utf8.index(startIndex, offsetBy: last)) }
    return String(self[..<end])
  }
}
