import Foundation
import TestSupport
import Testing

/// Several nodes of the service with one database of PostgreSQL and one store, and the job processes of the same build.
struct ServiceNodes: Sendable {
  static let pattern = ["--play", "pattern", "--size", "160x120", "--fps", "15"]

  let scenario: Scenario
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
    return ServiceNodes(scenario: scenario, nodes: nodes)
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
