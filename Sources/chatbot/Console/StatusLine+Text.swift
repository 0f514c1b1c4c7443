/// Figures and names made fit for a line of a terminal.
extension StatusLine {
  /// Bits a second in three figures or fewer: `850 b/s`, `64 kb/s`, `1.2 Mb/s`.
  static func bitrate(_ bits: Double) -> String {
    switch bits {
    case 999_500...: "\(tenths(bits / 1_000_000)) Mb/s"
    case 999.5...: "\(whole(bits / 1000)) kb/s"
    default: "\(whole(bits)) b/s"
    }
  }

  /// The nearest whole number; 0 for what is no number.
  static func whole(_ value: Double) -> Int {
    value.isFinite ? Int(max(0, min(value, 1e15)).rounded()) : 0
  }

  /// With one decimal.
  static func tenths(_ value: Double) -> String {
    let tenths = whole(value * 10)
    return "\(tenths / 10).\(tenths % 10)"
  }

  /// A text from outside without control and formatting characters, shortened; `?` when nothing is left.
  static func plain(_ text: String, longest: Int) -> String {
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

  /// Columns that a text takes on a terminal: two for a letter from beyond Latin, Greek, Cyrillic and their neighbours, so
  /// rather too many than too few.
  static func width(_ text: String) -> Int {
    text.unicodeScalars.reduce(0) { $0 + width($1) }
  }

  /// The text's beginning that fits into so many columns.
  static func cut(_ text: String, to columns: Int) -> String {
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
    // The arrows that the line itself uses are narrow.
    scalar.value < 0x1100 || scalar == "↓" || scalar == "↑" ? 1 : 2
  }
}
