internal import FoundationEssentials
import HTTPTypes
import Hummingbird
package import JSON
import Media
import NIOCore
import NIOHTTP1
package import SQLStore

extension APIResponder {
  // MARK: What other nodes answer

  /// The answer of the node that has the job of a request; nil if this one answers.
  ///
  /// - Parameter request: gets its body, if the body was read.
  func passedOn(_ route: APIRoute, _ request: inout Request, _ token: AccessToken) async throws -> Response? {
    guard let peers, token.name != NodePeers.callerName, let id = route.jobAtItsNode else { return nil }
    let found: JobRecord?
    do {
      found = try await store.job(id, project: token.project)
    } catch let error as SQLError where error.kind == .unreachable {
      // This node may have the job, and does what it can without the database.
      return nil
    }
    guard let job = found, !job.state.isEnded, let path = request.head.path else { return nil }
    // A stream asks for itself: see `live(of:_:_:)`.
    if case .jobLive = route, Self.wantsStream(request) { return nil }
    var body: ByteBuffer?
    if request.method == .post {
      body = ByteBuffer(bytes: try await Self.body(of: request))
      request = Request(head: request.head, body: RequestBody(buffer: body ?? ByteBuffer()))
    }
    let answer = await peers.ask(
      job.node, request.method == .post ? .POST : .GET, path, body: body, project: token.project)
    // What another node refuses, or fails to do, may be done here: it may not have the job any more.
    guard let answer, answer.status < 500, answer.status != 401, answer.status != 403 else { return nil }
    return Self.response(answer)
  }

  private static func response(_ answer: NodePeers.Answer) -> Response {
    var headers: HTTPFields = [:]
    if let type = answer.contentType { headers[.contentType] = type }
    if let seconds = answer.retryAfter { headers[.retryAfter] = seconds }
    return Response(
      status: .init(code: answer.status), headers: headers, body: ResponseBody(byteBuffer: answer.body))
  }

  /// The live figures of a job at another node, as JSON; nil if this one has it.
  func liveElsewhere(_ id: JobID, project: String) async -> String? {
    guard let peers, let job = try? await store.job(id, project: project), !job.state.isEnded,
      let answer = await peers.ask(job.node, .GET, "/v1/jobs/\(id.text)/live", project: project), answer.status == 200
    else { return nil }
    return String(buffer: answer.body)
  }

  /// The live figures of all jobs of a project at the other nodes.
  func liveElsewhere(project: String, _ token: AccessToken) async -> [String: JSONValue] {
    guard let peers, token.name != NodePeers.callerName else { return [:] }
    let limits = JSONLimits(bytes: 16 << 20, values: 1_000_000, depth: 16, nameBytes: 1_024, nameRunOutsideASCII: 1_024)
    var jobs: [String: JSONValue] = [:]
    for body in await peers.askAll("/v1/live", project: project) {
      let value = try? JSONReader.decode(JSONValue.self, from: Data(body.readableBytesView), within: limits)
      if case .object(let fields)? = value?["jobs"] { jobs.merge(fields) { $1 } }
    }
    return jobs
  }

  // MARK: The nodes themselves

  /// `GET /v1/nodes`
  func nodes() async throws -> Response {
    Self.json(.object(["nodes": .array(try await store.nodes().map { APIDocument.node($0) })]))
  }

  /// `POST /v1/nodes/NAME/drain`, `undrain`
  func drain(_ node: String, _ isDraining: Bool) async throws -> Response {
    guard try await store.setDraining(node, isDraining),
      let record = try await store.nodes().first(where: { $0.name == node })
    else { throw APIProblem(.notFound, "There is no such node.") }
    return Self.json(APIDocument.node(record))
  }
}

extension APIDocument {
  /// A node, without its address.
  package static func node(_ record: NodeRecord) -> JSONValue {
    let capacity = NodeCapacity(text: record.capacity)
    let state =
      !record.isAlive ? "gone" : record.isStopping ? "stopping" : record.isDraining ? "draining" : "ready"
    return .object([
      "name": .text(record.name), "version": .text(record.version), "state": .text(state),
      "draining": .bool(record.isDraining), "startedAt": .time(record.startedAt), "seenAt": .time(record.seenAt),
      "hasRoom": .bool(record.isAlive && (capacity?.hasRoom ?? false)), "jobs": .whole(capacity?.jobs ?? 0),
      "capacity": .object(
        (capacity?.figures ?? [:]).mapValues { .object(["used": .whole($0.used), "limit": .whole($0.limit)]) }),
    ])
  }
}
