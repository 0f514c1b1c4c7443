internal import Media

/// A database of a project. A project has one called `(default)` and may have others.
package struct FirestoreDatabase: Sendable, Hashable {
  /// Why a text is not the id of a project or database.
  package struct ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    let text: String

    package var description: String {
      "\"\(text.printable())\" is not the id of a Firestore project or database, such as my-project-1234."
    }
  }

  package let project: String
  package let database: String

  package init(project: String, database: String = "(default)") throws(ParseError) {
    for text in [project, database] {
      let isValid = text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"),
          UInt8(ascii: "_"):
          true
        default: false
        }
      }
      guard isValid && (1...128).contains(text.utf8.count) || text == "(default)" else { throw ParseError(text: text) }
    }
    self.project = project
    self.database = database
  }

  /// The name of the root, which all names of documents begin with.
  package var root: String { "projects/\(project)/databases/\(database)/documents" }

  /// The full name of a document, as in a commit. Names are not percent-encoded.
  package func name(of path: DocumentPath) -> String { "\(root)/\(path)" }

  /// Parses the full name of a document; nil if it is not one of this database.
  package func path(ofName name: String) -> DocumentPath? {
    let prefix = (root + "/").utf8
    guard name.utf8.count <= 6_144, name.utf8.starts(with: prefix) else { return nil }
    return DocumentPath(parsing: Substring(name.utf8.dropFirst(prefix.count)))
  }
}
