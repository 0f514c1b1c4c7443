/// Text that may come from the wire, made fit to be shown: names of peers can hold anything and be of any length.
enum ReportText {
  /// One line without control characters, cut to so many Unicode scalars.
  ///
  /// Control characters, noncharacters and the signs that turn the direction of what follows are shown as U+FFFD.
  static func line(_ text: String, limit: Int = 120) -> String {
    var scalars = String.UnicodeScalarView()
    var count = 0
    for scalar in text.unicodeScalars {
      if count == limit {
        scalars.append("\u{2026}")
        break
      }
      scalars.append(isHarmless(scalar) ? scalar : "\u{FFFD}")
      count += 1
    }
    return String(scalars)
  }

  /// Whether a scalar moves nothing but itself.
  static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0: false
    // Line and paragraph separators; embeddings, overrides and isolates of writing direction.
    case 0x2028...0x202E, 0x2066...0x2069: false
    default: !scalar.properties.isNoncharacterCodePoint
    }
  }
}
