import Foundation
import HTTPTransport
import NIOCore
import NIOHTTP1
import Synchronization
import TestSupport

/// A running `chatbot-service` with a data folder in the scenario's folder.
actor RunningService {
  struct Refused: Error, CustomStringConvertible {
    let request: String
    let status: UInt
    let text: String

    var description: String { "\(request) gave \(status): \(text)" }
  }

  private let scenario: Scenario
  private let name: String
  private let port: Int
  private let client: HTTPClient
  private let surroundings: Surroundings
  private(set) var process: ChildProcess
  /// The processes of jobs that were seen: they outlive the service.
  private var watched: Set<Int32> = []
  private var starts = 1

  nonisolated let data: URL
  /// The folder with the files that are objects of the store.
  nonisolated let store: URL

  /// What a service has around it.
  struct Surroundings: Sendable {
    /// A disk on which the service keeps its data.
    var disk: SmallDisk?
    /// The program of the jobs; nil for that of the same build.
    var jobProgram: String?
    /// The PEM file of the service's certificate; nil for plain HTTP.
    var certificate: URL?
  }

  private init(
    _ scenario: Scenario, _ name: String, _ port: Int, _ data: URL, _ process: ChildProcess,
    _ surroundings: Surroundings, store: URL?
  ) {
    self.scenario = scenario
    self.name = name
    self.port = port
    self.data = data
    self.store = store ?? data.appendingPathComponent("store")
    self.process = process
    self.surroundings = surroundings
    var options = HTTPClient.Options()
    options.maximumBodyBytes = 64 << 20
    if let certificate = surroundings.certificate { options.trust = .file(certificate.path) }
    client = HTTPClient(options: options, on: scenario.network.loops)
  }

  /// Starts a service and waits until it accepts jobs.
  ///
  /// - Parameters:
  ///   - limits: the value of `limits` in its configuration.
  ///   - settings: further lines of its configuration.
  static func start(
    _ scenario: Scenario, name: String = "service", servers: [String: Server],
    limits: String = "{minimumFree: 1MB, cpu: 100}", settings: String = "",
    surroundings: Surroundings = Surroundings()
  ) async throws -> RunningService {
    let port = try await scenario.network.freePort()
    let folder = scenario.folder.appendingPathComponent(name)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let addresses = servers.sorted { $0.key < $1.key }.map { "  \($0.key): {url: \"\($0.value.address)\"}\n" }.joined()
    // What a test says of them counts.
    let isOfCluster = ServiceBackends.areOfCluster && surroundings.disk == nil && !settings.contains("database:")
    let bucket = isOfCluster ? try await ServiceBackends.bucket(scenario, name: name) : nil
    let backends = try bucket.map { "\(try ServiceBackends.database())\n\($0.settings)\n" } ?? ""
    // A job process that a failed test leaves behind ends soon.
    let text = """
      listen: 127.0.0.1:\(port)
      data: \(surroundings.disk?.path ?? folder.path)/data
      servers:
      \(addresses)limits: \(limits)
      orphanLimit: 60s
      \(backends)\(settings)
      """
    try text.write(to: folder.appendingPathComponent("config.yaml"), atomically: true, encoding: .utf8)
    let process = try await program(scenario, name, 1, surroundings)
    let data = (surroundings.disk?.url ?? folder).appendingPathComponent("data")
    let service = RunningService(scenario, name, port, data, process, surroundings, store: bucket?.folder)
    try await service.waitUntilReady()
    return service
  }

  /// - Parameter build: the folder of the programs; nil for those of the same build.
  private static func program(
    _ scenario: Scenario, _ name: String, _ number: Int, _ surroundings: Surroundings, from build: URL? = nil
  ) async throws -> ChildProcess {
    let chatbot = try surroundings.jobProgram ?? build?.appendingPathComponent("chatbot").path ?? BuiltProgram.path()
    let program = (build ?? BuiltProgram.folder).appendingPathComponent("chatbot-service").path
    let settings = scenario.folder.appendingPathComponent(name).appendingPathComponent("config.yaml").path
    return try await scenario.program(
      "\(name) \(number)", (surroundings.disk?.prefix ?? []) + [program, "run", "--config", settings],
      environment: ["CHATBOT_PROGRAM": chatbot])
  }

  func waitUntilReady() async throws {
    try await eventually("service", within: .seconds(10)) {
      guard process.isRunning else { throw Refused(request: "start", status: 0, text: process.output) }
      let answer = try? await client.send(HTTPRequest(.GET, url("/readyz")))
      return answer?.status == .ok ? true : nil
    }
  }

  /// Ends the service with a signal, and waits for its end.
  func end(_ signal: Int32, within limit: Duration = .seconds(30)) async throws -> ChildProcess.EndReason {
    process.signal(signal)
    return try await process.ending(within: limit)
  }

  /// Starts the service again.
  ///
  /// - Parameters:
  ///   - build: the folder of its programs; nil for those of the same build.
  ///   - waiting: whether to wait until it accepts jobs.
  func startAgain(from build: URL? = nil, waiting: Bool = true) async throws {
    starts += 1
    process = try await Self.program(scenario, name, starts, surroundings, from: build)
    if waiting { try await waitUntilReady() }
  }

  // MARK: Requests

  /// Where the service is, such as `http://127.0.0.1:8080`.
  nonisolated var address: String { "\(surroundings.certificate == nil ? "http" : "https")://127.0.0.1:\(port)" }

  private func url(_ path: String) throws -> HTTPURL { try HTTPURL("\(address)\(path)") }

  /// The token of the administrator.
  nonisolated var adminToken: String {
    get throws {
      try String(contentsOf: data.appendingPathComponent("admin.token"), encoding: .utf8)
        .trimmingCharacters(in: .whitespacesAndNewlines)
    }
  }

  /// Sends a request with the token of the administrator.
  ///
  /// - Returns: the status and the JSON of the answer, whatever it is.
  func send(
    _ method: HTTPMethod, _ path: String, _ body: String? = nil, headers: HTTPHeaders = [:]
  ) async throws -> (status: UInt, json: JSON) {
    let answer = try await request(method, path, body, token: adminToken, headers: headers)
    return (answer.status.code, answer.text.isEmpty ? .null : try JSON(parsing: answer.text))
  }

  /// Sends a request.
  ///
  /// - Parameter token: nil for none.
  func request(
    _ method: HTTPMethod, _ path: String, _ body: String? = nil, token: String?, headers: HTTPHeaders = [:]
  ) async throws -> HTTPResponse {
    var headers = headers
    if let token { headers.add(name: "Authorization", value: "Bearer \(token)") }
    if body != nil { headers.add(name: "Content-Type", value: "application/json") }
    return try await client.send(
      HTTPRequest(
        method, url(path), headers: headers, body: body.map { ByteBuffer(string: $0) }, timeout: .seconds(30)))
  }

  /// Runs a command of the service's program with its configuration to the end.
  func command(_ arguments: [String]) async throws -> ExternalTool.Result {
    let program = BuiltProgram.folder.appendingPathComponent("chatbot-service").path
    let settings = scenario.folder.appendingPathComponent("\(name)/config.yaml").path
    return try ExternalTool.run(program, arguments + ["--config", settings], niceness: 0)
  }

  /// Makes a token.
  func makeToken(_ owner: String, role: String, project: String = "default") async throws -> String {
    let made = try await command(["token", owner, "--role", role, "--project", project])
    guard made.status == 0 else { throw Refused(request: "token", status: 0, text: made.errors) }
    return made.output.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private func answer(_ method: HTTPMethod, _ path: String, _ body: String? = nil) async throws -> JSON {
    let (status, json) = try await send(method, path, body)
    guard status / 100 == 2 else {
      throw Refused(request: "\(method) \(path)", status: status, text: (try? json.text) ?? "")
    }
    return json
  }

  /// Submits a job.
  ///
  /// - Returns: its id.
  func submit(_ body: String) async throws -> String {
    let job = try await answer(.POST, "/v1/jobs", body)
    guard let id = job["id"].string else { throw Refused(request: "POST", status: 201, text: "It has no id.") }
    return id
  }

  func job(_ id: String) async throws -> JSON { try await answer(.GET, "/v1/jobs/\(id)") }

  @discardableResult
  func command(_ command: String, _ id: String) async throws -> JSON {
    try await answer(.POST, "/v1/jobs/\(id)/\(command)")
  }

  func stop(_ id: String) async throws { try await command("stop", id) }

  /// All events of a job, in order.
  func events(_ id: String) async throws -> [JSON] {
    try await answer(.GET, "/v1/jobs/\(id)/events?limit=200")["events"].list
  }

  /// Waits until a job is in a state.
  @discardableResult
  func wait(
    _ id: String, for state: String, attempt: Int? = nil, within limit: Duration = .seconds(30)
  ) async throws -> JSON {
    try await eventually("job that is \(state)", within: limit) {
      try watch()
      let job = try await job(id)
      guard job["state"].string == state else {
        guard !["finished", "failed", "cancelled"].contains(job["state"].string ?? "") else {
          throw Refused(request: "the wait for \(state)", status: 0, text: try job.text)
        }
        return nil
      }
      guard attempt == nil || job["attempt"].int == attempt else { return nil }
      return job
    }
  }

  // MARK: Processes of jobs

  /// The id of the process of the newest attempt of a job.
  func process(of id: String) throws -> Int32 {
    guard let attempt = try newestAttempt(of: id), let process = Self.process(in: attempt) else {
      throw Refused(request: "the process of \(id)", status: 0, text: "There is none.")
    }
    return process
  }

  /// The folder of the newest attempt of a job.
  func newestAttempt(of id: String) throws -> URL? {
    let folder = data.appendingPathComponent("jobs/\(id)")
    let attempts = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    return attempts.max { number($0) < number($1) }.map { folder.appendingPathComponent($0) }
  }

  private func number(_ folder: String) -> Int { Int(folder.prefix { $0 != "-" }) ?? 0 }

  private static func process(in folder: URL) -> Int32? {
    let journal = folder.appendingPathComponent("journal.ndjson")
    guard let text = try? String(contentsOf: journal, encoding: .utf8), let line = text.split(separator: "\n").first,
      let started = try? JSON(parsing: String(line))
    else { return nil }
    return started["process"].int.map { Int32($0) }
  }

  /// Lets the processes of jobs end with the test.
  private func watch() throws {
    let jobs = data.appendingPathComponent("jobs")
    for job in (try? FileManager.default.contentsOfDirectory(atPath: jobs.path)) ?? [] {
      let folder = jobs.appendingPathComponent(job)
      for attempt in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] {
        guard let process = Self.process(in: folder.appendingPathComponent(attempt)),
          watched.insert(process).inserted
        else { continue }
        ProcessSupervisor.shared.watch(process)
      }
    }
  }

  /// Tells that the processes of jobs have ended, so that their ids may be used again.
  func forgetProcesses() {
    for process in watched { ProcessSupervisor.shared.forget(process) }
    watched = []
  }

  // MARK: The store

  /// The file of an object.
  nonisolated func object(_ key: String) -> URL { store.appendingPathComponent(key) }

  /// The files with the name `recording.json` in the store.
  nonisolated func manifests() -> [URL] {
    guard let files = FileManager.default.enumerator(at: store, includingPropertiesForKeys: nil) else { return [] }
    return files.compactMap { $0 as? URL }.filter { $0.lastPathComponent == "recording.json" }
  }
}
