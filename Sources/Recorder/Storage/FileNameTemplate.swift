internal import Media

/// How the files of recordings are called: a text with fields in braces, such as `{date}-{room}-{name}`. Pure.
///
/// | field | value |
/// |---|---|
/// | `{date}`, `{time}` | when the recording began, in UTC: `2026-03-01`, `09-30-00` |
/// | `{room}` | the room's name |
/// | `{name}` | the user's name, or the id of a user without one |
/// | `{id}` | the user's id |
/// | `{stream}` | the number of the user's stream, from 1 |
/// | `{session}` | the first 8 digits of the id that all recordings of one process share |
///
/// In a value only letters and digits of all scripts, `-`, `_` and inner dots are kept, and everything else becomes `_`. A value has
/// at most 48 bytes, and a name 140, so that it fits into the limits of file systems with an extension and a number.
public struct FileNameTemplate: Sendable, Hashable, CustomStringConvertible {
  /// A value that differs between recordings.
  package enum Field: String, Sendable, Hashable, CaseIterable {
    case date, time, room, name, id, stream, session
  }

  /// What a name is made of.
  package struct Values: Sendable, Hashable {
    package var room: String
    package var name: String?
    package var id: String
    package var stream: Int
    package var session: String
    /// ISO 8601 in UTC, for example `2026-03-01T09:30:00.125Z`.
    package var start: String

    package init(room: String, name: String?, id: String, stream: Int, session: String, start: String) {
      self.room = room
      self.name = name
      self.id = id
      self.stream = stream
      self.session = session
      self.start = start
    }
  }

  /// Why a text is not a template. The description is one sentence.
  public struct ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    public let description: String
  }

  private enum Part: Sendable, Hashable {
    case text(String)
    case field(Field)
  }

  /// The text as it was given.
  public let description: String
  private let parts: [Part]

  /// The maximum bytes of a template, of a field's value, and of a name.
  package static let maximumTemplate = 200
  private static let maximumValue = 48
  private static let maximumName = 140

  /// All fields in braces, for help and errors.
  public static var fields: String { Field.allCases.map { "{\($0.rawValue)}" }.joined(separator: ", ") }

  /// Parses a template.
  public init(_ text: String) throws(ParseError) {
    guard !text.isEmpty, text.utf8.count <= Self.maximumTemplate else {
      throw ParseError(description: "A template for names of files has 1 to \(Self.maximumTemplate) bytes.")
    }
    var parts: [Part] = []
    var literal = ""
    var rest = Substring(text).unicodeScalars
    while let scalar = rest.popFirst() {
      guard scalar == "{" else {
        guard SafeFileName.isKept(scalar) else {
          throw ParseError(
            description: "A name of a file has letters, digits, “-”, “_” and “.”, not “\(String(scalar).printable())”; "
              + "fields are \(Self.fields).")
        }
        literal.unicodeScalars.append(scalar)
        continue
      }
      guard let end = rest.firstIndex(of: "}") else {
        throw ParseError(description: "A field in the names of files begins with “{”, but does not end with “}”.")
      }
      let word = String(rest[..<end])
      guard let field = Field(rawValue: word) else {
        throw ParseError(
          description:
            "There is no field “{\(word.printable(utf8Bytes: 40))}” for names of files; there are \(Self.fields).")
      }
      if !literal.isEmpty { parts.append(.text(literal)) }
      literal = ""
      parts.append(.field(field))
      rest = rest[rest.index(after: end)...]
    }
    if !literal.isEmpty { parts.append(.text(literal)) }
    if case .text(let text)? = parts.first, text.hasPrefix(".") || text.hasPrefix("-") {
      throw ParseError(description: "The names of files cannot begin with “\(text.prefix(1))”.")
    }
    description = text
    self.parts = parts
  }

  /// Whether each stream of a user has a name of its own. If not, a number is appended to those of further streams.
  package var namesStreams: Bool { parts.contains(.field(.stream)) }

  /// Returns a name without an extension, which is safe on every system: never empty, hidden, or similar to an option.
  package func name(of values: Values) -> String {
    let text = parts.map { part in
      switch part {
      case .text(let text): text
      case .field(let field): Self.cleaned(Self.value(of: field, in: values))
      }
    }.joined()
    return SafeFileName(of: text, maximumLength: Self.maximumName).description
  }

  private static func value(of field: Field, in values: Values) -> String {
    switch field {
    case .date: String(values.start.prefix(10))
    case .time: String(values.start.dropFirst(11).prefix(8)).replacing(":", with: "-")
    case .room: values.room
    case .name: values.name ?? values.id
    case .id: values.id
    case .stream: "\(values.stream)"
    case .session: String(values.session.prefix(8))
    }
  }

  /// Returns a value with safe characters only. It may begin or end with any of them: that is decided for the whole name.
  private static func cleaned(_ value: String) -> String {
    var kept = ""
    for scalar in value.unicodeScalars {
      let next = SafeFileName.isKept(scalar) ? String(scalar) : "_"
      if kept.utf8.count + next.utf8.count > maximumValue { break }
      kept += next
    }
    return kept
  }
}
