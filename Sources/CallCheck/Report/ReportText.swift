/// Sanitizes text that may come from the network for display: names of peers can contain anything and have any length.
package enum ReportText {
  /// Returns one line without control characters, cut to `limit` Unicode scalars.
  ///
  /// Scalars that are not printable are shown as U+FFFD.
  package static func line(_ text: String, limit: Int = 120) -> String {
    var scalars = String.UnicodeScalarView()
    var count = 0
    for scalar in text.unicodeScalars {
      if count == limit {
        scalars.append("\u{2026}")
        break
      }
      scalars.append(isPrintable(scalar) ? scalar : "\u{FFFD}")
      count += 1
    }
    return String(scalars)
  }

  /// Whether a scalar can be printed as it is: it is no control character, line separator or format character. Some
  /// format characters reverse the direction of the following text. The two joiners, which join letters or keep them
  /// apart, are allowed.
  package static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    if scalar == "\u{200C}" || scalar == "\u{200D}" { return true }
    return switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
    default: true
    }
  }
}
