package import FoundationEssentials

/// A request to the REST API, relative to `…/v1/`. Pure.
package struct FirestoreRequest: Sendable, Hashable {
  package enum Method: String, Sendable, Hashable {
    case get = "GET"
    case post = "POST"
    case patch = "PATCH"
    case delete = "DELETE"
  }

  package let method: Method
  /// The percent-encoded path and query below `/v1/`.
  package let target: String
  package let body: Data?

  /// Whether it may be sent twice: all requests besides one that creates a document with a new id.
  package let isRepeatable: Bool

  private init(_ method: Method, _ target: String, body: Data? = nil, isRepeatable: Bool = true) {
    self.method = method
    self.target = target
    self.body = body
    self.isRepeatable = isRepeatable
  }

  package static func get(_ path: DocumentPath, in database: FirestoreDatabase) -> FirestoreRequest {
    FirestoreRequest(.get, target(path.ids, in: database))
  }

  /// - Parameter pageToken: the token of the page before; nil for the first page.
  package static func list(
    _ collection: CollectionPath, pageSize: Int, pageToken: String?, in database: FirestoreDatabase
  ) -> FirestoreRequest {
    var query = "?pageSize=\(pageSize)"
    if let pageToken { query += "&pageToken=\(PercentEncoding.encode(pageToken))" }
    return FirestoreRequest(.get, target(collection.ids, in: database) + query)
  }

  /// Creates or replaces a document.
  package static func set(
    _ path: DocumentPath, _ fields: [String: FirestoreValue], in database: FirestoreDatabase
  ) -> FirestoreRequest {
    FirestoreRequest(.patch, target(path.ids, in: database), body: encoded(["fields": fields]))
  }

  /// Creates a document with an id that the server chooses.
  package static func add(
    to collection: CollectionPath, _ fields: [String: FirestoreValue], in database: FirestoreDatabase
  ) -> FirestoreRequest {
    FirestoreRequest(
      .post, target(collection.ids, in: database), body: encoded(["fields": fields]), isRepeatable: false)
  }

  package static func delete(_ path: DocumentPath, in database: FirestoreDatabase) -> FirestoreRequest {
    FirestoreRequest(.delete, target(path.ids, in: database))
  }

  /// Carries out all writes or none. At most 500.
  package static func commit(_ writes: [FirestoreWrite], in database: FirestoreDatabase) -> FirestoreRequest {
    FirestoreRequest(.post, database.root + ":commit", body: encoded(CommitBody(writes, in: database)))
  }

  private static func target(_ ids: [FirestoreID], in database: FirestoreDatabase) -> String {
    database.root + "/" + ids.map(\.percentEncoded).joined(separator: "/")
  }

  private static func encoded(_ value: some Encodable) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Only a number that is not finite cannot be encoded; signalling writes none.
    return (try? encoder.encode(value)) ?? Data("{}".utf8)
  }
}
