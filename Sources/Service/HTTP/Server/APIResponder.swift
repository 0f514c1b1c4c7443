import FoundationEssentials
import HTTPTypes
package import Hummingbird
package import JSON
package import Logging
package import Media
import NIOCore
package import ObjectStore
package import SQLStore

/// What a request needs of its connection.
package struct APIContext: RequestContext {
  package var coreContext: CoreRequestContextStorage
  /// The IP address of the client.
  package let address: String
  package let channel: any Channel
  /// When the request came.
  package let begun = MonotonicInstant.now

  package init(source: ApplicationRequestContextSource) {
    coreContext = .init(source: source)
    address = source.channel.remoteAddress?.ipAddress ?? ""
    channel = source.channel
  }
}

/// Answers the requests of the API and the page.
///
/// It reads and writes the database, asks the supervisor, and never touches a process.
package struct APIResponder: HTTPResponder {
  package typealias Context = APIContext

  let configuration: ServiceConfiguration
  /// The absolute path of the data folder.
  let data: String
  let store: JobStore
  let objects: any ObjectStore
  let control: any JobControl
  let access: APIAccess
  let secrets: SecretBox
  let metrics: ServiceMetrics
  /// What waits to be stored.
  let unstored: UnstoredFiles
  let watcher: EventWatcher
  /// The other nodes; nil if this one does not ask them.
  let peers: NodePeers?
  let logger: Logger

  /// The maximum size of a body in bytes.
  package static let maximumBody = 65_536
  /// How long a command is waited for, and how long at least where another node was asked before.
  static let commandWait = Duration.seconds(5)
  static let minimumCommandWait = Duration.seconds(1)
  static let sessionCookie = "chatbot_session"

  package init(
    configuration: ServiceConfiguration, data: String, store: JobStore, objects: any ObjectStore,
    control: any JobControl, access: APIAccess, secrets: SecretBox, metrics: ServiceMetrics,
    unstored: UnstoredFiles = UnstoredFiles(), peers: NodePeers? = nil, logger: Logger
  ) {
    self.configuration = configuration
    self.data = data
    self.store = store
    self.objects = objects
    self.control = control
    self.access = access
    self.secrets = secrets
    self.metrics = metrics
    self.unstored = unstored
    self.peers = peers
    self.logger = logger
    watcher = EventWatcher(store: store)
  }

  package func respond(to request: Request, context: APIContext) async -> Response {
    let start = MonotonicInstant.now
    var response = await answer(request, context)
    response.headers[values: .xContentTypeOptions] = ["nosniff"]
    if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
    if request.method == .head { response = response.createHeadResponse() }
    metrics.answered(status: response.status.code, in: MonotonicInstant.now - start)
    return response
  }

  private func answer(_ request: Request, _ context: APIContext) async -> Response {
    do {
      return try await dispatch(request, context)
    } catch let problem as APIProblem {
      return Self.response(problem)
    } catch let error as SQLError {
      logger.error("\(error.description)")
      var problem = APIProblem(.notReady, "The database does not answer.")
      problem.retryAfter = 2
      return Self.response(problem)
    } catch let error as ObjectStoreError {
      logger.error("\(error.description)")
      if error.kind == .missing { return Self.response(APIProblem(.notFound, "The file is gone.")) }
      var problem = APIProblem(.notReady, "The store of recordings does not answer.")
      problem.retryAfter = 2
      return Self.response(problem)
    } catch {
      logger.error("\("\(error)".printable(utf8Bytes: 500))")
      return Self.response(APIProblem(.internalError))
    }
  }

  private func dispatch(_ request: Request, _ context: APIContext) async throws -> Response {
    let target = (request.head.path ?? "/").utf8
    let mark = target.firstIndex(of: UInt8(ascii: "?"))
    let path = String(decoding: mark.map { target[..<$0] } ?? target[...], as: UTF8.self)
    let query = mark.map { String(decoding: target[target.index(after: $0)...], as: UTF8.self) }
    guard let route = APIRoute(path: path, page: configuration.page.isEnabled ? PageFiles.names : []) else {
      throw APIProblem(.notFound)
    }
    let methods = route.methods
    guard let method = methods.first(where: { $0.method == request.method.rawValue }) else {
      var problem = APIProblem(.methodNotAllowed)
      problem.allow = methods.map(\.method)
      throw problem
    }
    guard let role = method.role else { return try await openAnswer(route, query, request, context) }
    let credential = Self.credential(of: request.headers)
    let token = try authorize(credential, role, route, request, context)
    if case .cookie = credential, request.method != .get, request.method != .head { try checkOrigin(request) }
    let isList = route == .jobs && request.method != .post
    let parameters = request.method == .get || request.method == .head ? route.parameters : []
    let values = try APIQuery(query, known: parameters, hasLabels: isList)
    if request.method == .post || request.method == .delete {
      logger.info(
        "\(request.method.rawValue) \(path.printable(utf8Bytes: 200))",
        metadata: ["token": .string(token.name), "project": .string(token.project)])
    }
    var request = request
    if let response = try await passedOn(route, &request, token) { return response }
    return try await answer(route, values, request, token, context)
  }

  /// Another node may ask for what is passed on to the node that has a job, and for nothing else.
  private func authorize(
    _ credential: APIAccess.Credential, _ role: TokenRole, _ route: APIRoute, _ request: Request, _ context: APIContext
  ) throws(APIProblem) -> AccessToken {
    if let peers, let node = peers.caller(credential, project: request.headers[.chatbotProject]) {
      guard route.jobAtItsNode != nil || route == .live else {
        throw APIProblem(.forbidden, "The token of the nodes does not allow this.")
      }
      return node
    }
    return try access.authorize(credential, role: role, address: context.address)
  }

  /// Answers requests that need no token.
  private func openAnswer(
    _ route: APIRoute, _ query: String?, _ request: Request, _ context: APIContext
  ) async throws -> Response {
    _ = try APIQuery(query, known: [])
    switch route {
    case .page(let name): return PageFiles.response(name, request.headers, mediaOrigin: objects.linkOrigin)
    case .openAPI: return PageFiles.openAPI
    case .health: return Self.json(.object(["status": .text("ok")]))
    case .ready: return try await ready()
    case .session where request.method == .delete: return endSession()
    case .session: return try await beginSession(request, context)
    default: throw APIProblem(.notFound)
    }
  }

  private func answer(
    _ route: APIRoute, _ query: APIQuery, _ request: Request, _ token: AccessToken, _ context: APIContext
  ) async throws -> Response {
    switch route {
    case .jobs where request.method == .post: return try await submit(request, token)
    case .jobs: return try await list(query, token)
    case .job(let id): return Self.json(try await document(try await job(id, token)))
    case .stop(let id): return try await command(.stop, id, request, context, token)
    case .pause(let id): return try await command(.pause, id, request, context, token)
    case .resume(let id): return try await command(.resume, id, request, context, token)
    case .events: return try await events(nil, query, request, context, token)
    case .jobEvents(let id): return try await events(try await job(id, token).id, query, request, context, token)
    case .live: return try await live(request, context, token)
    case .jobLive(let id): return try await live(of: try await job(id, token), request, context, token)
    case .logs(let id): return try await logs(of: try await job(id, token), query)
    case .snapshot(let id, let user): return try await snapshot(of: user, in: try await job(id, token))
    case .files(let id): return try await files(of: try await job(id, token), query)
    case .file(let id, let name): return try await file(name, of: try await job(id, token), query, request)
    case .recording(let id): return try await deleteRecording(of: try await job(id, token))
    case .nodes: return try await nodes()
    case .drainNode(let name): return try await drain(name, true)
    case .undrainNode(let name): return try await drain(name, false)
    case .deliveries: return try await deliveries(query, token)
    case .replay(let id): return try await replay(id, request, token)
    case .metrics: return try await metricsText()
    case .session: return Self.json(sessionDocument(token))
    case .page, .openAPI, .health, .ready: throw APIProblem(.notFound)
    }
  }

  /// Returns a job of the token's project.
  func job(_ id: JobID, _ token: AccessToken) async throws -> JobRecord {
    guard let job = try await store.job(id, project: token.project) else {
      throw APIProblem(.notFound, "There is no such job.")
    }
    return job
  }

  func document(_ record: JobRecord) async throws -> JSONValue {
    APIDocument.job(record, labels: try await store.labels(of: [record.id])[record.id] ?? [:])
  }
}

extension APIResponder {
  /// Reads the token of a request. A header counts before a cookie.
  static func credential(of headers: HTTPFields) -> APIAccess.Credential {
    let values = headers[values: .authorization]
    if let value = values.first {
      let words = value.split(separator: " ")
      guard values.count == 1, words.count == 2, words[0].lowercased() == "bearer" else { return .malformed }
      return .header(String(words[1]))
    }
    for header in headers[values: .cookie] {
      for pair in header.split(separator: ";") {
        let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2, parts[0] == sessionCookie { return .cookie(String(parts[1])) }
      }
    }
    return .missing
  }

  /// Refuses a change that another page's script asks for with the cookie of this one.
  ///
  /// - Returns: whether the page was loaded over TLS, which a proxy may have where this service has none.
  @discardableResult
  func checkOrigin(_ request: Request) throws(APIProblem) -> Bool {
    let schemes = configuration.tls == nil ? ["http", "https"] : ["https"]
    guard let origin = request.headers[.origin]?.lowercased(), let authority = request.head.authority?.lowercased(),
      let scheme = schemes.first(where: { origin == "\($0)://\(authority)" })
    else { throw APIProblem(.forbidden, "With a cookie, changes must come from the service's own page.") }
    return scheme == "https"
  }

  /// Reads the body, 64 KiB at most.
  static func body(of request: Request) async throws -> [UInt8] {
    let tooLarge = APIProblem(.tooLarge, "A body has at most \(maximumBody) bytes.")
    if let length = request.headers[.contentLength].flatMap({ Int64($0) }), length > Int64(maximumBody) {
      throw tooLarge
    }
    do {
      return Array(buffer: try await request.body.collect(upTo: maximumBody))
    } catch is NIOTooManyBytesError {
      throw tooLarge
    }
  }

  /// Reads a JSON body.
  package static func json(_ body: [UInt8]) throws(APIProblem) -> JSONValue {
    let limits = JSONLimits(bytes: maximumBody, values: 4_000, depth: 10, nameBytes: 512, nameRunOutsideASCII: 256)
    do throws(JSONReader.Problem) {
      return try JSONReader.decode(JSONValue.self, from: Data(body), within: limits)
    } catch {
      switch error {
      case .tooLarge(let bytes, let limit):
        throw APIProblem(.tooLarge, "The body has \(bytes) bytes; \(limit) are read.")
      case .tooMuch: throw APIProblem(.invalidJSON, "The JSON has too many values, or is nested too deeply.")
      case .invalid: throw APIProblem(.invalidJSON)
      }
    }
  }

  // MARK: Answers

  static func response(_ problem: APIProblem) -> Response {
    var response = json(problem.json, status: .init(code: problem.kind.status), type: "application/problem+json")
    if problem.kind == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer realm=\"chatbot\"" }
    if let seconds = problem.retryAfter { response.headers[.retryAfter] = "\(seconds)" }
    if !problem.allow.isEmpty { response.headers[.allow] = problem.allow.joined(separator: ", ") }
    if let size = problem.size { response.headers[.contentRange] = "bytes */\(size)" }
    // What is left of a body that is too large is not read.
    if problem.kind == .tooLarge { response.headers[.connection] = "close" }
    return response
  }

  static func json(
    _ value: JSONValue, status: HTTPResponse.Status = .ok, type: String = "application/json"
  ) -> Response {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else { return Response(status: .internalServerError) }
    return Response(
      status: status, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
  }

  /// JSON on one line, for an event of a stream.
  static func line(_ value: JSONValue) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }
}
