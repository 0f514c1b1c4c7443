internal import Media

/// What stands for a user whose picture is not shown.
package enum Initials {
  /// Returns the first letters of the first and the last word of a label, or the emoji that it begins with; `?` for no label.
  package static func text(of label: String) -> String {
    // A character may have any number of combining marks.
    let words = label.prefix(utf8Bytes: 640).split { $0.isWhitespace || separators.contains($0) }
    let letters = words.compactMap { word in word.first { $0.isLetter || $0.isNumber || isEmoji($0) } }
    guard let first = letters.first else { return label.isEmpty ? "?" : String(label.prefix(1)) }
    let both = letters.count > 1 && first.isLetter ? [first, letters[letters.count - 1]] : [first]
    return both.map { String(String.UnicodeScalarView($0.unicodeScalars.prefix(8))).uppercased() }.joined(
      separator: nonJoiner)
  }

  /// Keeps two letters of Arabic from being written as one word.
  private static let nonJoiner = "\u{200C}"
  private static let separators: Set<Character> = ["-", "_", ".", "@", "(", ")", "/", ","]

  private static func isEmoji(_ character: Character) -> Bool {
    character.unicodeScalars.first.map { $0.properties.isEmoji && $0.value > 0xFF } ?? false
  }
}
