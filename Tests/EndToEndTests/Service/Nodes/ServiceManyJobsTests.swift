import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Many short jobs over several nodes, each with a process of its own.
  @Suite("many jobs over several nodes", .enabled(if: PostgreSQLServer.isInstalled)) struct ServiceManyJobsTests {
    @Test("each job runs on one node, once, and is finished with one description; none is lost")
    func many() async throws {
      let (jobs, count) = (ServiceTestForm.count(short: 200, whole: 1_000), 10)
      try await Scenario.run("205 service \(jobs) jobs over \(count) nodes", limit: .seconds(60 + jobs)) { scenario in
        let database = try PostgreSQLServer()
        defer { database.stop() }
        let url = database.url(try database.makeDatabase())
        let server = try await scenario.server(["--users-per-room", "1001"])
        // Two processors carry so many at a time; what is left over waits in the queue of the database.
        let limits = "{minimumFree: 1MB, cpu: 10, requests: 100000}"
        let cluster = try await ServiceNodes.start(scenario, count: count, server, limits: limits) { _ in url }
        let begun = ContinuousClock.now
        var ids: [String] = []
        for number in 0..<jobs {
          ids.append(
            try await cluster.nodes[number % count].submit(
              #"{"kind": "record", "room": "many-\#(number)", "queueFor": "1h", "end": {"duration": "1s"}}"#))
        }
        let submitted = (ContinuousClock.now - begun) / .seconds(1)
        try await eventually("end of all jobs", within: .seconds(20 + jobs), every: .seconds(1)) {
          let rows = try database.run(
            "SELECT COUNT(*) FROM jobs WHERE ended_at IS NULL", database: Self.name(of: url))
          return rows == "0" ? true : nil
        }
        let took = (ContinuousClock.now - begun) / .seconds(1)
        await scenario.note("measured: \(jobs) jobs were submitted in \(submitted) s and over after \(took) s")
        func ask(_ statement: String) throws -> String { try database.run(statement, database: Self.name(of: url)) }
        #expect(try ask("SELECT COUNT(*) FROM jobs WHERE state = 'finished' AND reason = 'duration'") == "\(jobs)")
        #expect(try ask("SELECT COUNT(*), MAX(number) FROM attempts") == "\(jobs)|1")
        for type in ["job.started", "recording.finished", "job.finished"] {
          let counts = try ask(
            "SELECT COUNT(*), COUNT(DISTINCT job) FROM events WHERE type = '\(type)'")
          #expect(counts == "\(jobs)|\(jobs)", "\(type)")
        }
        let nodes = try ask("SELECT COUNT(DISTINCT node) FROM attempts")
        #expect(nodes == "\(count)", "all nodes had jobs")
        let described = Set(cluster.descriptions().map { $0.deletingLastPathComponent().lastPathComponent })
        #expect(described == Set(ids) && cluster.descriptions().count == jobs)
        try await cluster.end()
      }
    }

    private static func name(of url: String) -> String { String(url.split(separator: "/").last ?? "") }
  }
}
