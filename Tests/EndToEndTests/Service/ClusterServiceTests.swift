import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Two services with one database of PostgreSQL and one store, and the job processes of the same build.
  @Suite("two nodes of the service", .enabled(if: PostgreSQLServer.isInstalled))
  struct ClusterServiceTests {
    private static let pattern = ["--play", "pattern", "--size", "160x120", "--fps", "15"]

    /// Starts two nodes with one database and one store.
    private func nodes(
      _ scenario: Scenario, _ server: Server, _ database: PostgreSQLServer, settings: String = ""
    ) async throws -> (a: RunningService, b: RunningService) {
      let url = database.url(try database.makeDatabase())
      var nodes: [RunningService] = []
      for name in ["a", "b"] {
        nodes.append(
          try await RunningService.start(
            scenario, name: "node-\(name)", servers: ["main": server],
            settings: """
              node: \(name)
              database: {url: "\(url)"}
              store: {url: "file://\(scenario.folder.path)/store"}
              \(settings)
              """))
      }
      return (nodes[0], nodes[1])
    }

    /// The only manifest of the store, with all its objects checked.
    private func manifest(_ scenario: Scenario) throws -> JSON {
      let store = scenario.folder.appendingPathComponent("store")
      let all =
        FileManager.default.enumerator(at: store, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
      let files = all.filter { $0.lastPathComponent == "recording.json" }
      try #require(files.count == 1)
      let manifest = try JSON(parsing: String(contentsOf: files[0], encoding: .utf8))
      #expect(!manifest["objects"].list.isEmpty)
      for object in manifest["objects"].list {
        let file = store.appendingPathComponent(object["object"].string ?? "")
        #expect(try Data(contentsOf: file).count == object["bytes"].int)
        let digest = try ExternalTool.run("sha256sum", [file.path]).output.prefix { $0 != " " }
        #expect(String(digest) == object["sha256"].string, "\(file.lastPathComponent)")
      }
      return manifest
    }

    private func types(_ events: [JSON]) -> [String] { events.compactMap { $0["type"].string } }

    @Test(
      "when a node is killed with its processes, another one has joined within 40 s, and one manifest has both parts")
    func killed() async throws {
      try await Scenario.run("75 service whose node is killed", limit: .seconds(240)) { scenario in
        let database = try PostgreSQLServer()
        defer { database.stop() }
        let server = try await scenario.server()
        let (a, b) = try await nodes(scenario, server, database)
        _ = try await scenario.bot(in: "100", of: server, Self.pattern, name: "user")
        let job = try await a.submit(#"{"kind": "record", "room": "100"}"#)
        try await a.wait(job, for: "running")
        try await sleepOnEventLoop(for: .seconds(6))
        let process = try await a.process(of: job)
        let killed = ContinuousClock.now
        #expect(try await a.end(SIGKILL, within: .seconds(5)) == .signal(SIGKILL))
        kill(process, SIGKILL)
        try await b.wait(job, for: "running", attempt: 2, within: .seconds(90))
        let took = (ContinuousClock.now - killed) / .seconds(1)
        await scenario.note("measured: another node had joined after \(took) s")
        let stall = await scenario.stall
        #expect(took < 40 + stall / 1_000, .onQuietMachine("another node takes the job over soon"))
        try await sleepOnEventLoop(for: .seconds(4))
        try await b.stop(job)
        // The files of the first attempt are on the node that is gone.
        try await b.wait(job, for: "storing")
        try await a.startAgain()
        try await b.wait(job, for: "finished", within: .seconds(90))

        let manifest = try manifest(scenario)
        #expect(manifest["complete"] == true)
        #expect(manifest["attempts"].list.map { $0["node"].string } == ["a", "b"])
        let gaps = manifest["users"][0]["gaps"].list
        #expect(gaps.contains { $0["reason"].string == "nodeLost" && $0["kind"].string == "video" })
        #expect(!gaps.contains { $0["reason"].string == "processLost" })
        let files = manifest["users"][0]["files"].list
        #expect(Set(files.compactMap { $0["attempt"].int }) == [1, 2])
        let kinds = types(try await b.events(job))
        #expect(kinds.count { $0 == "job.restarted" } == 1)
        #expect(Array(kinds.suffix(2)) == ["recording.finished", "job.finished"])
        for node in [a, b] {
          #expect(try await node.end(SIGTERM) == .exit(0))
          await node.forgetProcesses()
        }
      }
    }

    @Test("a node that ends hands its job over with an overlap and without a gap")
    func drained() async throws {
      try await Scenario.run("76 service whose node ends", limit: .seconds(180)) { scenario in
        let database = try PostgreSQLServer()
        defer { database.stop() }
        let server = try await scenario.server()
        let (a, b) = try await nodes(scenario, server, database, settings: "drainTimeout: 1s")
        for number in 1...2 {
          _ = try await scenario.bot(in: "100", of: server, Self.pattern, name: "user \(number)")
        }
        let job = try await a.submit(#"{"kind": "record", "room": "100"}"#)
        try await a.wait(job, for: "running")
        try await sleepOnEventLoop(for: .seconds(6))
        #expect(try await a.end(SIGTERM, within: .seconds(60)) == .exit(0))
        try await b.wait(job, for: "running", attempt: 2)
        try await sleepOnEventLoop(for: .seconds(4))
        try await b.stop(job)
        try await b.wait(job, for: "finished", within: .seconds(60))
        let manifest = try manifest(scenario)
        #expect(manifest["complete"] == true)
        let users = manifest["users"].list.filter { $0["files"].list.contains { $0["kind"].string == "webm" } }
        #expect(users.count == 2)
        for user in users {
          #expect(user["gaps"].list.isEmpty)
          let kinds = user["overlaps"].list.compactMap { $0["kind"].string }
          #expect(kinds.contains("video") && kinds.contains("audio"))
        }
        #expect(try await b.end(SIGTERM) == .exit(0))
        for node in [a, b] { await node.forgetProcesses() }
      }
    }
  }
}
