/// A template of the paths of recordings, such as `{date}/{job}`.
package struct ObjectPathTemplate: Sendable, Hashable, CustomStringConvertible {
  /// Why a text is no template, as a sentence.
  package struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String
  }

  /// The fields of a template.
  package enum Field: String, Sendable, Hashable, CaseIterable {
    /// The day on which the job was submitted, in UTC: `2026-03-01`.
    case date
    case job
    case kind
    case project
    case room
  }

  /// The values of the fields.
  package struct Values: Sendable, Hashable {
    /// Milliseconds since 1970.
    package var createdAt: Int64
    package var job: String
    package var kind: String
    package var project: String
    package var room: String

    package init(createdAt: Int64, job: String, kind: String, project: String, room: String) {
      self.createdAt = createdAt
      self.job = job
      self.kind = kind
      self.project = project
      self.room = room
    }
  }

  private enum Piece: Sendable, Hashable {
    case text(String)
    case field(Field)
  }

  /// The longest template, and the longest path that leaves room for the names of files.
  private static let maximumBytes = 200
  private static let maximumPathBytes = 512

  package static let standard = ObjectPathTemplate(
    description: "{date}/{job}", pieces: [.field(.date), .text("/"), .field(.job)])

  package let description: String
  private let pieces: [Piece]

  private init(description: String, pieces: [Piece]) {
    self.description = description
    self.pieces = pieces
  }

  /// - Parameter text: letters, digits, `-`, `_`, `.`, `=`, `/` and fields in braces; it must have `{job}`, so that two jobs never have
  ///   the same path.
  package init(_ text: String) throws(Problem) {
    guard text.utf8.count <= Self.maximumBytes else {
      throw Problem(description: "A path template has at most \(Self.maximumBytes) bytes.")
    }
    var pieces: [Piece] = []
    var rest = Substring(text)
    while let first = rest.first {
      if first == "{" {
        guard let end = rest.firstIndex(of: "}"),
          let field = Field(rawValue: String(rest[rest.index(after: rest.startIndex)..<end]))
        else {
          let names = Field.allCases.map { "{\($0.rawValue)}" }.joined(separator: ", ")
          throw Problem(description: "The fields of a path template are \(names).")
        }
        pieces.append(.field(field))
        rest = rest[rest.index(after: end)...]
      } else {
        let literal = rest.prefix { $0 != "{" }
        guard literal.utf8.allSatisfy({ KeyText.isPlain($0) || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "=") })
        else {
          throw Problem(description: "A path template has ASCII letters, digits, -, _, ., =, / and fields.")
        }
        pieces.append(.text(String(literal)))
        rest = rest.dropFirst(literal.count)
      }
    }
    guard pieces.contains(.field(.job)) else {
      throw Problem(description: "A path template must contain {job}.")
    }
    self.init(description: text, pieces: pieces)
    guard path(Values(createdAt: 0, job: "0", kind: "record", project: "p", room: "r")) != nil else {
      throw Problem(description: "No part of a path is empty or begins with a dot.")
    }
  }

  /// Returns the path of a job's recording, without a slash at its end; nil if it would be too long.
  package func path(_ values: Values) -> ObjectKey? {
    let text = pieces.map { piece in
      switch piece {
      case .text(let text): text
      case .field(let field): Self.value(of: field, in: values)
      }
    }.joined()
    guard text.utf8.count <= Self.maximumPathBytes else { return nil }
    return ObjectKey(text)
  }

  private static func value(of field: Field, in values: Values) -> String {
    switch field {
    case .date: String(UTCTime(milliseconds: values.createdAt).text.prefix(10))
    case .job: KeyText.part(values.job)
    case .kind: KeyText.part(values.kind)
    case .project: KeyText.part(values.project)
    case .room: KeyText.part(values.room)
    }
  }
}
