package import FoundationEssentials
internal import JSON
internal import Media

/// One page of a collection.
package struct DocumentPage: Sendable, Hashable {
  package var documents: [FirestoreDocument]
  /// nil on the last page.
  package var nextPageToken: String?
  /// The number of entries that are not documents of the database.
  package var ignoredCount: Int
}

/// The parts of a response that signalling needs. Pure; everything else is ignored.
package enum FirestoreResponse {
  /// Parses a document.
  package static func document(_ body: Data, in database: FirestoreDatabase) throws(FirestoreError) -> FirestoreDocument
  {
    guard let entry = decode(Entry.self, body), let document = entry.document(in: database)
    else { throw .invalidResponse("it is not a document") }
    return document
  }

  /// Parses a page of a list. An empty collection is an empty object.
  package static func page(_ body: Data, in database: FirestoreDatabase) throws(FirestoreError) -> DocumentPage {
    guard let page = decode(Page.self, body) else {
      throw .invalidResponse("it is not a list of documents")
    }
    let entries = page.documents ?? []
    let documents = entries.compactMap { $0.value?.document(in: database) }
    let token = page.nextPageToken.flatMap { $0.string.isEmpty ? nil : $0.string }
    if let token, token.utf8.count > 4_096 { throw .invalidResponse("its page token is too long") }
    return DocumentPage(documents: documents, nextPageToken: token, ignoredCount: entries.count - documents.count)
  }

  /// Parses the time of a commit.
  package static func commitTime(_ body: Data) throws(FirestoreError) -> FirestoreTimestamp {
    guard let commit = decode(Commit.self, body),
      let time = FirestoreTimestamp(parsing: commit.commitTime.string)
    else { throw .invalidResponse("it has no time of the commit") }
    return time
  }

  /// Maps the status of a response to an error; nil for success.
  ///
  /// - Parameter what: what the request was about, for the sentence of a 404.
  package static func error(
    status: UInt, body: Data, retryAfter: Duration?, about what: String
  ) -> FirestoreError? {
    switch status {
    case 200..<300: nil
    case 401, 403: .unauthorized(status: status, message: message(body))
    case 404: .notFound(what)
    case 429, 500, 502, 503, 504: .busy(status: status, retryAfter: retryAfter)
    default: .rejected(status: status, message: message(body))
    }
  }

  private static func message(_ body: Data) -> String {
    guard let failure = decode(Failure.self, body), let text = failure.error.message else {
      return ""
    }
    let line = text.string.printable(utf8Bytes: 160)
    return line.hasSuffix(".") ? String(line.dropLast()) : line
  }

  /// Documents may have further fields, with any names of up to 1,500 bytes, which escapes double.
  private static let limits = JSONLimits(depth: .max, nameBytes: 3_072, nameRunOutsideASCII: 64)

  private static func decode<Value: Decodable>(_ type: Value.Type, _ body: Data) -> Value? {
    try? JSONReader.decode(type, from: body, within: limits)
  }

  private struct Entry: Decodable {
    let name: UntrustedText
    let fields: [String: FirestoreValue]?
    let updateTime: ASCIIText

    func document(in database: FirestoreDatabase) -> FirestoreDocument? {
      guard let path = database.path(ofName: name.string),
        let time = FirestoreTimestamp(parsing: updateTime.string)
      else {
        return nil
      }
      return FirestoreDocument(path: path, fields: fields ?? [:], updateTime: time)
    }
  }

  /// One bad entry must not hide the others.
  private struct Lenient: Decodable {
    let value: Entry?

    init(from decoder: any Decoder) throws { value = try? Entry(from: decoder) }
  }

  private struct Page: Decodable {
    let documents: [Lenient]?
    let nextPageToken: ASCIIText?
  }

  private struct Commit: Decodable {
    let commitTime: ASCIIText
  }

  private struct Failure: Decodable {
    struct Details: Decodable {
      let message: UntrustedText?
    }

    let error: Details
  }
}
