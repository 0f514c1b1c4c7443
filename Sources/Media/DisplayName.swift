/// The name that a participant gave itself, for people. Not an id: several participants may have the same one.
///
/// It is text from outside that is shown in pages, terminals and names of files, so characters that are not visible or that
/// change the direction of text are left out. Any run of white space becomes one space, with none at the ends.
package struct DisplayName: Sendable, Hashable, CustomStringConvertible {
  /// The maximum length in Unicode scalars: a bound for the time that comparing takes, too.
  package static let maximumLength = 64
  /// How much of a longer text is looked at.
  private static let maximumInput = 1_024

  /// 1 to 64 Unicode scalars, of which at least one is visible by itself.
  package let description: String

  /// Returns nil for a text in which nothing visible is left.
  package init?(_ text: String) {
    var kept = String.UnicodeScalarView()
    var length = 0
    var isSpaceDue = false
    var isVisible = false
    for scalar in text.unicodeScalars.prefix(Self.maximumInput) {
      if scalar.properties.isWhitespace {
        isSpaceDue = length > 0
        continue
      }
      guard Self.isKept(scalar) else { continue }
      guard length + (isSpaceDue ? 2 : 1) <= Self.maximumLength else { break }
      if isSpaceDue { kept.append(" ") }
      length += isSpaceDue ? 2 : 1
      isSpaceDue = false
      kept.append(scalar)
      isVisible = isVisible || !Self.isMark(scalar)
    }
    guard isVisible else { return nil }
    description = String(kept)
  }

  private static func isKept(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
    // A joiner of emoji is a format character; a variation selector or a Hangul filler shows nothing by itself.
    default: !scalar.properties.isDefaultIgnorableCodePoint
    }
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .spacingMark: true
    default: false
    }
  }
}

extension DisplayName {
  /// Returns a participant for people: the name with the beginning of the id, which tells namesakes apart, or the id alone.
  ///
  /// - Parameters:
  ///   - name: a name as a server passed it on, or nil.
  ///   - id: the whole id.
  package static func label(_ name: String?, id: ParticipantID) -> String {
    guard let name = name.flatMap({ DisplayName($0) }) else { return id.text.printable() }
    return "\(name) (\(id.text.printable(utf8Bytes: idLength)))"
  }

  /// How many bytes of an id are shown beside a name.
  private static let idLength = 6
}
