import Firestore
import Signalling

/// A database in memory whose clock is the number of its changes.
struct MemoryDatabase {
  private(set) var documents: [DocumentPath: FirestoreDocument] = [:]
  private var moment: Int64 = 1_000
  /// The commits that wrote a description, each with the ids of the candidates that were readable then.
  private(set) var writes: [(path: DocumentPath, candidates: Int)] = []

  /// The server's time; it advances with every change and with ``advance(seconds:)``.
  var now: FirestoreTimestamp { FirestoreTimestamp(seconds: moment) }

  mutating func advance(seconds: Int64) { moment += seconds }

  @discardableResult
  mutating func commit(_ writes: [FirestoreWrite]) -> FirestoreTimestamp {
    moment += 1
    for write in writes {
      switch write {
      case .set(let path, let fields), .create(let path, let fields):
        documents[path] = FirestoreDocument(path: path, fields: fields, updateTime: now)
      case .delete(let path): documents[path] = nil
      }
    }
    return now
  }

  func list(_ collection: CollectionPath) -> [FirestoreDocument] {
    documents.values.filter { $0.path.ids.dropLast() == collection.ids[...] }
      .sorted { $0.path.id.text < $1.path.id.text }
  }

  subscript(path: DocumentPath) -> FirestoreDocument? { documents[path] }
}
