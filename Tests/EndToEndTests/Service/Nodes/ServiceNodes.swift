import Foundation
import TestSupport
import Testing

/// Several nodes of the service with one database of PostgreSQL and one store, and the job processes of the same build.
struct ServiceNodes: Sendable {
  static let pattern = ["--play", "pattern", "--size", "160x120", "--fps", "15"]

  let scenario: Scenario
  let server: Server
  let nodes: [RunningService]

  var a: RunningService { nodes[0] }
  var b: RunningService { nodes[1] }

  /// Starts nodes, whose names are letters from `a` on.
  ///
  /// - Parameters:
  ///   - url: the URL of the database, from the number of the node.
  ///   - settings: further lines of the configuration of each.
  static func start(
    _ scenario: Scenario, count: Int = 2, _ server: Server, limits: String = "{minimumFree: 1MB, cpu: 100}",
    settings: String = "", url: (Int) -> String
  ) async throws -> ServiceNodes {
    var nodes: [RunningService] = []
    for number in 0..<count {
      let name = String(UnicodeScalar(UInt8(ascii: "a") + UInt8(number)))
      nodes.append(
        try await RunningService.start(
          scenario, name: "node-\(name)", servers: ["main": server], limits: limits,
          settings: """
            node: \(name)
            database: {url: "\(url(number))"}
            store: {url: "file://\(scenario.folder.path)/store"}
            \(settings)
            """))
    }
    return ServiceNodes(scenario: scenario, server: server, nodes: nodes)
  }

  /// Runs a scenario with a room server, a database of its own and two nodes.
  ///
  /// - Parameter settings: further lines of the configuration of each node.
  static func run(
    _ name: String, limit: Duration, settings: String = "",
    _ body: @escaping @Sendable (Scenario, ServiceNodes) async throws -> Void
  ) async throws {
    try await Scenario.run(name, limit: limit) { scenario in
      let database = try PostgreSQLServer()
      defer { database.stop() }
      let url = database.url(try database.makeDatabase())
      try await body(scenario, start(scenario, try await scenario.server(), settings: settings) { _ in url })
    }
  }

  /// Lets users join a room that the first node records.
  ///
  /// - Parameter options: those of the recording, as JSON.
  /// - Returns: the job, which is running.
  func record(users: Int = 1, _ options: String = "{}") async throws -> String {
    for number in 0..<users {
      _ = try await scenario.bot(in: "100", of: server, Self.pattern, name: "user \(number + 1)")
    }
    let job = try await a.submit(#"{"kind": "record", "room": "100", "record": \#(options)}"#)
    try await a.wait(job, for: "running")
    return job
  }

  /// Kills the first node with the processes of its jobs, as with its machine.
  func killFirst(with jobs: [String]) async throws {
    var processes: [Int32] = []
    for job in jobs { processes.append(try await a.process(of: job)) }
    #expect(try await a.end(SIGKILL, within: .seconds(5)) == .signal(SIGKILL))
    for process in processes { kill(process, SIGKILL) }
  }

  /// Expects that the second node has joined in place of the first one within 40 s.
  func expectTakeover(of job: String, since lost: ContinuousClock.Instant) async throws {
    try await b.wait(job, for: "running", attempt: 2, within: .seconds(90))
    let took = (ContinuousClock.now - lost) / .seconds(1)
    await scenario.note("measured: another node had joined after \(took) s")
    let stall = await scenario.stall / 1_000
    #expect(took < 40 + stall, .onQuietMachine("another node takes the job over soon"))
  }

  /// Ends the nodes in order.
  func end(_ some: [RunningService]? = nil) async throws {
    for node in some ?? nodes {
      #expect(try await node.end(SIGTERM) == .exit(0))
      await node.forgetProcesses()
    }
  }

  // MARK: Processes

  /// Whether a process runs: it has neither ended nor waits to be reaped.
  static func isAlive(_ process: Int32) -> Bool {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      let end = text.lastIndex(of: ")")
    else { return false }
    return !text[end...].hasPrefix(") Z")
  }

  /// Waits for the end of a process.
  ///
  /// - Returns: how long that took, in seconds.
  static func end(of process: Int32, within limit: Duration) async throws -> Double {
    let start = ContinuousClock.now
    try await eventually("end of the process", within: limit) { isAlive(process) ? nil : true }
    return (ContinuousClock.now - start) / .seconds(1)
  }

  // MARK: The store

  var store: URL { scenario.folder.appendingPathComponent("store") }

  /// The descriptions with this name in the store.
  func descriptions(_ name: String = "recording.json") -> [URL] {
    let all = FileManager.default.enumerator(at: store, includingPropertiesForKeys: nil)
    return (all?.compactMap { $0 as? URL } ?? []).filter { $0.lastPathComponent == name }
  }

  /// The description of a job's recording, with all its objects compared with the store.
  func description(of job: String, _ name: String = "recording.json") throws -> JSON {
    let files = descriptions(name).filter { $0.deletingLastPathComponent().lastPathComponent == job }
    try #require(files.count == 1, "one \(name) of \(job), of \(files.count)")
    let description = try JSON(parsing: String(contentsOf: files[0], encoding: .utf8))
    let objects = description["objects"].list
    #expect(!objects.isEmpty)
    let paths = objects.map { store.appendingPathComponent($0["object"].string ?? "").path }
    #expect(Set(paths).count == paths.count, "each object is listed once")
    for (path, object) in zip(paths, objects) {
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count == object["bytes"].int, "\(path)")
      let digest = try ExternalTool.run("sha256sum", [path]).output.prefix { $0 != " " }
      #expect(String(digest) == object["sha256"].string, "\(path)")
    }
    return description
  }

  /// Expects that the events of a job are numbered without holes, that each stored file has one event, and that the end comes last.
  func expectEvents(of job: String, by node: RunningService, end: [String] = ["recording.finished", "job.finished"])
    async throws -> [String]
  {
    let events = try await node.allEvents(job)
    #expect(events.map { $0["sequence"].int } == events.indices.map { $0 + 1 })
    let files = events.filter { $0["type"] == "recording.file" }.compactMap { $0["data"]["object"].string }
    #expect(!files.isEmpty && Set(files).count == files.count)
    let types = events.compactMap { $0["type"].string }
    #expect(Array(types.suffix(end.count)) == end)
    for type in ["job.started", "recording.finished", "job.finished"] {
      #expect(types.count { $0 == type } == 1, "\(type)")
    }
    return types
  }
}
