/// Text that may come from the wire, made fit to be shown: names of peers can hold anything and be of any length.
package enum ReportText {
  /// One line without control characters, cut to so many Unicode scalars.
  ///
  /// What is not harmless is shown as U+FFFD.
  package static func line(_ text: String, limit: Int = 120) -> String {
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

  /// Whether a scalar is no control character, no separator of lines, and no format character, of which some turn the direction of
  /// what follows; but for the two that join letters or keep them apart.
  package static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    if scalar == "\u{200C}" || scalar == "\u{200D}" { return true }
    return switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
    default: true
    }
  }
}
