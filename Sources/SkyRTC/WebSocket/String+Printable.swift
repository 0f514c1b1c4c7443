extension String {
  /// The text as it may be shown in a log or on a terminal: at most so many bytes, and control characters, line ends and
  /// direction marks by their escapes. For all that comes from outside.
  ///
  /// - Parameter kept: scalars that are shown as they are all the same.
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
