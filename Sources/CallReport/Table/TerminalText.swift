import CallCheck

/// Text on a terminal: its width, and where to cut and wrap it.
package struct TerminalText {
  /// Whether the terminal can show more than ASCII.
  var isUnicode: Bool

  /// Returns one line that cannot move the cursor or change a colour, cut to `columns`.
  func line(_ text: String, columns: Int = .max) -> String {
    let shown = ReportText.line(text, limit: 600)
    let plain = isUnicode ? shown : Self.ascii(shown)
    guard Self.width(plain) > columns else { return plain }
    let ellipsis = isUnicode ? "\u{2026}" : "..."
    var left = columns - Self.width(ellipsis)
    var cut = String.UnicodeScalarView()
    for scalar in plain.unicodeScalars {
      left -= Self.width(scalar)
      if left < 0 { break }
      cut.append(scalar)
    }
    return String(cut) + (columns >= ellipsis.count ? ellipsis : "")
  }

  /// Returns a text in lines of at most `columns`, wrapped between words; longer words are cut.
  func lines(_ text: String, columns: Int) -> [String] {
    var lines: [String] = []
    var current = ""
    for word in line(text).split(separator: " ") {
      let word = line(String(word), columns: max(8, columns))
      if !current.isEmpty, Self.width(current) + 1 + Self.width(word) > columns {
        lines.append(current)
        current = ""
      }
      current += (current.isEmpty ? "" : " ") + word
    }
    return current.isEmpty ? lines : lines + [current]
  }

  func padded(_ text: String, columns: Int) -> String {
    text + String(repeating: " ", count: max(0, columns - Self.width(text)))
  }

  /// Returns the number of columns that a text takes.
  package static func width(_ text: String) -> Int { text.unicodeScalars.reduce(0) { $0 + width($1) } }

  /// Returns 2 for ideographs and most emoji, 0 for combining characters, else 1, as most terminals do.
  private static func width(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.value {
    case ..<0x300: 1
    case 0x200B...0x200D, 0xFE00...0xFE0F, 0xE0000...0xE01EF: 0
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF01...0xFF60,
      0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1FAFF, 0x20000...0x3FFFD:
      2
    default:
      switch scalar.properties.generalCategory {
      case .nonspacingMark, .enclosingMark: 0
      default: 1
      }
    }
  }

  /// Replaces characters outside ASCII with a question mark, except for the signs that the program uses itself.
  private static func ascii(_ text: String) -> String {
    var plain = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\u{202F}", "\u{A0}": plain += " "
      case "\u{2026}": plain += "..."
      case "\u{2013}", "\u{2212}": plain += "-"
      case "\u{D7}": plain += "x"
      case "\u{2192}": plain += "->"
      default: plain.unicodeScalars.append(scalar.isASCII ? scalar : "?")
      }
    }
    return plain
  }
}
