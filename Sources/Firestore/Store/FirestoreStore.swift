internal import FoundationEssentials
package import HTTPTransport
package import NIOCore
internal import NIOHTTP1

/// A database behind its REST API: a thin shell that sends ``FirestoreRequest`` and parses ``FirestoreResponse``.
package final class FirestoreStore: Sendable {
  /// Where a server is and how to speak to it.
  package struct Configuration: Sendable {
    /// For example `https://firestore.googleapis.com`, or `http://127.0.0.1:8080` for an emulator.
    package var server = "https://firestore.googleapis.com"
    package var credentials = FirestoreCredentials.none
    package var trust = TLSTrust.system
    package var connectTimeout: Duration = .seconds(10)
    package var responseTimeout: Duration = .seconds(10)
    /// The maximum size of a response in bytes.
    package var maximumResponseBytes = 1 << 20
    package var identityServer = "https://identitytoolkit.googleapis.com"
    package var tokenServer = "https://securetoken.googleapis.com"

    package init() {}
  }

  package let database: FirestoreDatabase
  private let base: HTTPURL
  private let http: HTTPClient
  private let tokens: TokenSource
  private let timeout: Duration

  /// The maximum number of writes in a commit (REST reference, `commit`).
  package static let maximumWrites = 500
  private static let pageSize = 300

  package init(
    _ database: FirestoreDatabase, _ configuration: Configuration, on group: any EventLoopGroup
  ) throws(HTTPURL.ParseError) {
    self.database = database
    base = try HTTPURL(configuration.server)
    var options = HTTPClient.Options()
    options.trust = configuration.trust
    options.connectTimeout = configuration.connectTimeout
    options.maximumBodyBytes = configuration.maximumResponseBytes
    http = HTTPClient(options: options, on: group)
    timeout = configuration.responseTimeout
    tokens = TokenSource(
      configuration.credentials,
      identity: try IdentityAddresses(toolkit: configuration.identityServer, token: configuration.tokenServer),
      http: http, timeout: timeout)
  }

  /// Closes the connections that are not in use.
  package func close() { http.close() }

  /// Returns a document, or nil if it does not exist.
  package func get(_ path: DocumentPath) async throws(FirestoreError) -> FirestoreDocument? {
    do throws(FirestoreError) {
      let body = try await perform(.get(path, in: database), about: "The document \(path)")
      return try FirestoreResponse.document(body, in: database)
    } catch {
      if case .notFound = error { return nil }
      throw error
    }
  }

  /// Returns the documents of a collection.
  ///
  /// - Parameter limit: the maximum number; a collection with more is an error.
  package func list(
    _ collection: CollectionPath, limit: Int = 1_024
  ) async throws(FirestoreError) -> [FirestoreDocument] {
    var documents: [FirestoreDocument] = []
    var token: String?
    var ignoredCount = 0
    // An empty page may have a successor, so the pages are counted as well.
    for _ in 0..<(2 + limit / Self.pageSize) {
      let request = FirestoreRequest.list(collection, pageSize: Self.pageSize, pageToken: token, in: database)
      let page: DocumentPage
      do throws(FirestoreError) {
        page = try FirestoreResponse.page(
          try await perform(request, about: "The collection \(collection)"), in: database)
      } catch {
        if case .notFound = error { return [] }
        throw error
      }
      documents += page.documents
      ignoredCount += page.ignoredCount
      guard documents.count + ignoredCount <= limit else { break }
      guard let next = page.nextPageToken else { return documents }
      guard next != token else { throw .invalidResponse("a page refers to itself") }
      token = next
    }
    throw .tooManyDocuments(collection: "\(collection)", limit: limit)
  }

  /// Creates or replaces a document.
  package func set(_ path: DocumentPath, _ fields: [String: FirestoreValue]) async throws(FirestoreError) {
    _ = try await perform(.set(path, fields, in: database), about: "The document \(path)")
  }

  /// Creates a document with an id that the server chooses.
  package func add(
    to collection: CollectionPath, _ fields: [String: FirestoreValue]
  ) async throws(FirestoreError) -> FirestoreDocument {
    let body = try await perform(.add(to: collection, fields, in: database), about: "The collection \(collection)")
    return try FirestoreResponse.document(body, in: database)
  }

  /// Deletes a document; no error if it does not exist.
  package func delete(_ path: DocumentPath) async throws(FirestoreError) {
    _ = try await perform(.delete(path, in: database), about: "The document \(path)")
  }

  /// Carries out all writes, or none if there are at most ``maximumWrites``.
  ///
  /// - Returns: the server's time of the last commit.
  package func commit(_ writes: [FirestoreWrite]) async throws(FirestoreError) -> FirestoreTimestamp {
    var time = FirestoreTimestamp(seconds: 0)
    var rest = writes[...]
    repeat {
      let part = Array(rest.prefix(Self.maximumWrites))
      rest = rest.dropFirst(Self.maximumWrites)
      let body = try await perform(.commit(part, in: database), about: "The database")
      time = try FirestoreResponse.commitTime(body)
    } while !rest.isEmpty
    return time
  }

  private func perform(_ request: FirestoreRequest, about what: String) async throws(FirestoreError) -> Data {
    var canRenew = true
    while true {
      let authorization = try await tokens.authorization()
      let response = try await send(request, authorization: authorization)
      let body = Data(response.body.readableBytesView)
      let error = FirestoreResponse.error(
        status: response.status.code, body: body, retryAfter: response.retryAfter, about: what)
      guard let error else { return body }
      // A token may be withdrawn before it expires.
      if case .unauthorized(401, _) = error, canRenew, await tokens.reject(authorization) {
        canRenew = false
        continue
      }
      throw error
    }
  }

  private func send(
    _ request: FirestoreRequest, authorization: Secret?
  ) async throws(FirestoreError) -> HTTPResponse {
    var headers = HTTPHeaders()
    if let authorization { headers.add(name: "Authorization", value: authorization.text) }
    if request.body != nil { headers.add(name: "Content-Type", value: "application/json") }
    var url = base
    url.target = "/v1/" + request.target
    let body = request.body.map { ByteBuffer(bytes: $0) }
    let message = HTTPRequest(
      HTTPMethod(rawValue: request.method.rawValue), url, headers: headers, body: body, timeout: timeout)
    do throws(HTTPError) {
      do throws(HTTPError) {
        return try await http.send(message)
      } catch {
        // The server may have closed a kept connection at this moment; the second request uses another one.
        guard request.isRepeatable, case .invalidResponse = error else { throw error }
        return try await http.send(message)
      }
    } catch {
      throw .noResponse(error)
    }
  }
}
