/// One change of a commit (REST reference, `Write`).
package enum FirestoreWrite: Sendable, Hashable {
  /// Creates or replaces a document.
  case set(DocumentPath, [String: FirestoreValue])
  /// Creates a document. The whole commit fails with status 409 if it exists.
  case create(DocumentPath, [String: FirestoreValue])
  /// Deletes a document; no error if it does not exist.
  case delete(DocumentPath)

  package var path: DocumentPath {
    switch self {
    case .set(let path, _), .create(let path, _), .delete(let path): path
    }
  }
}

/// A commit's body.
struct CommitBody: Encodable {
  private struct Entry: Encodable {
    struct Document: Encodable {
      let name: String
      let fields: [String: FirestoreValue]
    }

    /// What must be true of the document before the commit.
    struct Precondition: Encodable {
      let exists: Bool
    }

    var update: Document?
    var delete: String?
    var currentDocument: Precondition?
  }

  private let writes: [Entry]

  init(_ writes: [FirestoreWrite], in database: FirestoreDatabase) {
    self.writes = writes.map { write in
      switch write {
      case .set(let path, let fields): Entry(update: .init(name: database.name(of: path), fields: fields))
      case .create(let path, let fields):
        Entry(update: .init(name: database.name(of: path), fields: fields), currentDocument: .init(exists: false))
      case .delete(let path): Entry(delete: database.name(of: path))
      }
    }
  }
}
