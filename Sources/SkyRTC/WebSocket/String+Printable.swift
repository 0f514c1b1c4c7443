extension String {
  /// The text as it may be shown in a log or on a terminal: at most so many bytes, and control characters, line ends and
  /// direction marks by their escapes. For all that comes from outside.
  package func printable(utf8Bytes limit: Int = 200) -> String {
    var shown = ""
    for scalar in prefix(utf8Bytes: limit).unicodeScalars {
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
