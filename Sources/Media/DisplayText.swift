/// Formatting of numbers and names for people, on a terminal and in tables.
package enum DisplayText {
  /// Formats a bitrate in at most three figures: `850 b/s`, `64 kb/s`, `1.2 Mb/s`.
  package static func bitrate(_ bits: Double) -> String {
    switch bits {
    case 999_500...: "\(tenths(bits / 1_000_000)) Mb/s"
    case 999.5...: "\(whole(bits / 1000)) kb/s"
    default: "\(whole(bits)) b/s"
    }
  }

  /// Rounds to the nearest whole number; NaN and infinity become 0.
  package static func whole(_ value: Double) -> Int {
    value.isFinite ? Int(max(0, min(value, 1e15)).rounded()) : 0
  }

  /// Formats a number with one decimal.
  package static func tenths(_ value: Double) -> String {
    let tenths = whole(value * 10)
    return "\(tenths / 10).\(tenths % 10)"
  }

  /// Removes control and formatting characters from a text from outside and shortens it; `?` if nothing is left.
  package static func plain(_ text: String, longest: Int) -> String {
    let visible = text.prefix(longest * 4).unicodeScalars.filter { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
        .nonspacingMark, .enclosingMark, .spacingMark:
        false
      default: true
      }
    }
    let plain = String(String.UnicodeScalarView(visible)).prefix(longest)
    return plain.isEmpty ? "?" : String(plain)
  }

  /// The columns that a text occupies on a terminal: two for each character beyond Latin, Greek, Cyrillic and their
  /// neighbours, because it is better to overestimate.
  package static func width(_ text: String) -> Int {
    text.unicodeScalars.reduce(0) { $0 + width($1) }
  }

  /// The beginning of the text that fits into the given number of columns.
  package static func cut(_ text: String, to columns: Int) -> String {
    var used = 0
    var kept = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      used += width(scalar)
      if used > columns { break }
      kept.append(scalar)
    }
    return String(kept)
  }

  private static func width(_ scalar: Unicode.Scalar) -> Int {
    // The arrows of a status line are narrow.
    scalar.value < 0x1100 || scalar == "↓" || scalar == "↑" ? 1 : 2
  }
}
