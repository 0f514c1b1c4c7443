/// One change of a commit (REST reference, `Write`).
package enum FirestoreWrite: Sendable, Hashable {
  /// Creates or replaces a document.
  case set(DocumentPath, [String: FirestoreValue])
  /// Deletes a document; no error if it does not exist.
  case delete(DocumentPath)

  package var path: DocumentPath {
    switch self {
    case .set(let path, _), .delete(let path): path
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

    var update: Document?
    var delete: String?
  }

  private let writes: [Entry]

  init(_ writes: [FirestoreWrite], in database: FirestoreDatabase) {
    self.writes = writes.map { write in
      switch write {
      case .set(let path, let fields): Entry(update: .init(name: database.name(of: path), fields: fields))
      case .delete(let path): Entry(delete: database.name(of: path))
      }
    }
  }
}
