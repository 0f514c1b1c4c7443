package import Media

/// Texts of strangers, made fit to be drawn.
package enum ShownText {
  /// The most characters of a name.
  package static let maximumNameLength = 40
  /// The most characters of a message.
  package static let maximumMessageLength = 500

  /// Joiners shape Arabic, Indic scripts and emoji.
  private static let joiners: Set<Unicode.Scalar> = ["\u{200C}", "\u{200D}"]

  /// Returns a name in at most 40 characters, with "…" where it was longer. Control and direction characters are escaped.
  package static func name(_ text: UntrustedText) -> String { shown(text, maximumNameLength) }

  /// Returns a message in one line of at most 500 characters.
  package static func message(_ text: UntrustedText) -> String {
    let lines = text.unicodeScalars.split { ["\n", "\r", "\u{2028}", "\u{2029}"].contains($0) }
    let joined = lines.prefix(maximumMessageLength).map { String(String.UnicodeScalarView($0)) }.joined(separator: " ")
    return shown(UntrustedText(joined), maximumMessageLength)
  }

  /// A character may have any number of combining marks, so bytes are limited as well: 16 for each character.
  private static func shown(_ text: UntrustedText, _ length: Int) -> String {
    let limit = length * 16
    let clean = text.string.printable(utf8Bytes: limit, keeping: joiners)
    let isCut = text.utf8.count > limit
    if !isCut, clean.count <= length { return clean }
    return String(clean.prefix(length - 1)) + "…"
  }
}
