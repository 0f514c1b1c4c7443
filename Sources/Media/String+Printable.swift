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
  /// Returns the longest prefix of at most `limit` bytes of UTF-8, without splitting a character.
  package func prefix(utf8Bytes limit: Int) -> String {
    if utf8.count <= limit { return self }
    var kept = ""
    var bytes = 0
    for character in self {
      bytes += character.utf8.count
      if bytes > limit { break }
      kept.append(character)
    }
    return kept
  }
}
