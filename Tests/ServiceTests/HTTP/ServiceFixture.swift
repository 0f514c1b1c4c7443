import Foundation
import JSON
import JobProtocol
import Logging
import Media
import NIOCore
import ObjectStore
import OptionValues
import SQLStore
import Synchronization
import Testing

@testable import Service

/// What the supervisor does in tests of the API.
actor FakeControl: JobControl {
  var shortage: CapacityShortage?
  var unready: [String] = []
  var live: [JobID: JobStatus] = [:]
  var snapshots: [String: [UInt8]] = [:]
  /// Whether commands are carried out.
  var carriesOut = true
  private(set) var reserved = 0
  private(set) var released = 0
  private(set) var began = 0
  private var store: JobStore?

  func set(shortage: CapacityShortage?) { self.shortage = shortage }
  func set(unready: [String]) { self.unready = unready }
  func set(carriesOut: Bool) { self.carriesOut = carriesOut }
  func set(live status: JobStatus?, of job: JobID) { live[job] = status }
  func set(snapshot: [UInt8], of user: String) { snapshots[user] = snapshot }
  func use(_ store: JobStore) { self.store = store }

  func start() async throws {}
  func reserve(_ kind: JobKind) async throws(CapacityShortage) -> CapacityReservation {
    if let shortage { throw shortage }
    reserved += 1
    return CapacityReservation(number: UInt64(reserved))
  }
  func release(_ reservation: CapacityReservation) { released += 1 }
  func submitted(_ job: JobID, reservation: CapacityReservation?) { began += reservation == nil ? 0 : 1 }
  func commandRequested(_ command: Int64, of job: JobID) async {
    guard carriesOut, let store else { return }
    _ = try? await store.complete(command, result: CommandResult(effectiveAt: 1_700_000_000_000).stored)
  }
  func isDone(_ command: Int64, within limit: Duration) -> Bool { carriesOut }
  func live(_ job: JobID) -> JobStatus? { live[job] }
  func statuses() -> [JobID: JobStatus] { live }
  private(set) var mediaCounts = MediaCounts()
  func set(mediaCounts: MediaCounts) { self.mediaCounts = mediaCounts }
  func snapshot(of user: String, in job: JobID) throws(SnapshotProblem) -> [UInt8] {
    guard live[job] != nil else { throw .noProcess }
    guard let png = snapshots[user] else { throw .noFrame("There is no such user.") }
    return png
  }
  var capacity: CapacityReport { CapacityReport(figures: [.memory: CapacityFigure(used: 1, limit: 2)]) }
  var missing: [String] { unready }
  func drain() {}
  func detach() {}
}

/// A service without a supervisor, over real sockets.
final class ServiceFixture: Sendable {
  let folder: String
  let store: JobStore
  let objects: FileObjectStore
  let control = FakeControl()
  let port: Int
  let tokens: [String: String]
  private let task: Task<Void, any Error>

  /// - Parameters:
  ///   - shared: the database of several services; nil: one of its own.
  ///   - node: the name of a service that asks others, with the common token.
  ///   - ca: the CA certificates that it trusts.
  ///   - change: changes the settings.
  init(
    shared: JobStore? = nil, node: (name: String, token: ClusterToken)? = nil, ca: String? = nil,
    _ change: (inout ServiceConfiguration) -> Void = { _ in }
  ) async throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "service-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let metrics = ServiceMetrics()
    if let shared {
      store = shared
    } else {
      store = try await JobStore.open("\(folder)/service.db") { metrics.note($0) }
    }
    objects = try await FileObjectStore.open("\(folder)/store")
    await control.use(store)
    var tokens: [String: String] = [:]
    var lines = ""
    for (name, role, project) in [
      ("viewer", TokenRole.viewer, "one"), ("operator", .operator, "one"), ("admin", .admin, "one"),
      ("other", .admin, "two"),
    ] {
      let text = AccessToken.randomText()
      tokens[name] = text
      lines += AccessToken(name: name, role: role, project: project, digest: SHA256Digest(of: text.utf8)).line + "\n"
    }
    self.tokens = tokens
    try PrivateFile.create("\(folder)/tokens", lines)
    var configuration = ServiceConfiguration()
    configuration.listen = ListenAddress(host: "127.0.0.1", port: 0)
    configuration.limits.requests = 10_000
    change(&configuration)
    let access = APIAccess(
      tokens: TokenFile("\(folder)/tokens"), requestsPerSecond: configuration.limits.requests)
    var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    logger.logLevel = .critical
    let peers = try node.map { [store] in
      try NodePeers(store: store, name: $0.name, token: $0.token, ca: ca, logger: logger)
    }
    let responder = APIResponder(
      configuration: configuration, data: folder, store: store, objects: objects, control: control, access: access,
      secrets: try SecretBox.load("\(folder)/secret.key"), metrics: metrics, peers: peers, logger: logger)
    let (running, continuation) = AsyncStream<Int>.makeStream()
    let server = try APIServer(responder, logger: logger) { address in
      continuation.yield(address?.port ?? 0)
    }
    task = Task { try await server.run() }
    var iterator = running.makeAsyncIterator()
    port = await iterator.next() ?? 0
  }

  deinit {
    task.cancel()
    try? FileManager.default.removeItem(atPath: folder)
  }

  func client(_ token: String) throws -> APIClient {
    try APIClient(url: "http://127.0.0.1:\(port)", token: tokens[token] ?? token)
  }

  /// Submits a job and returns its id.
  @discardableResult
  func submit(
    _ body: JSONValue = .object(["kind": "record", "room": "100"]), as token: String = "operator"
  ) async throws -> JobID {
    let job = try await client(token).json("POST", "/v1/jobs", body: body)
    return try #require(job["id"]?.string?.ascii.flatMap { JobID($0) })
  }
}
