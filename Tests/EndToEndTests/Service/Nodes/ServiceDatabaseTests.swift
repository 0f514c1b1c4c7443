import Foundation
import HTTPTransport
import NIOHTTP1
import TestSupport
import Testing

extension EndToEndWaiting {
  /// A database that is away, is killed or fails over while jobs record.
  @Suite("a database that is away", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct ServiceDatabaseTests {
    enum Fault: String, Sendable, CaseIterable {
      /// The server ends in order, and begins again.
      case stopped
      /// The server is killed, and begins again.
      case killed
      /// The primary is killed, and its synchronous standby is promoted.
      case promoted

      static let inThisForm: [Fault] = ServiceTestForm.isWhole ? allCases : [.killed]
    }

    @Test(
      "recordings have all frames, a pause of meanwhile holds, and events catch up in their order",
      arguments: Fault.inThisForm)
    func away(_ fault: Fault) async throws {
      let seconds = ServiceTestForm.count(short: 20, whole: 120)
      try await Scenario.run("206 service database \(fault)", limit: .seconds(160 + seconds)) { scenario in
        let primary = try PostgreSQLServer()
        defer { primary.stop() }
        let name = try primary.makeDatabase()
        var url = primary.url(name)
        var standby: PostgreSQLServer?
        defer { standby?.stop() }
        if fault == .promoted {
          let other = try PostgreSQLServer(standbyOf: primary)
          standby = other
          url = "postgresql://chatbot@127.0.0.1:\(primary.port),127.0.0.1:\(other.port)/\(name)"
          try primary.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
          try primary.run("SELECT pg_reload_conf()")
        }
        let common = url
        let server = try await scenario.server()
        let cluster = try await ServiceNodes.start(scenario, server) { _ in common }
        let (a, b) = (cluster.a, cluster.b)
        let job = try await cluster.record(users: 2, #"{"segment": "5s"}"#)
        try await a.receives(job, users: 2)
        let process = try await a.process(of: job)
        let users = try await a.send(.GET, "/v1/jobs/\(job)/live").json["users"].list.compactMap { $0["user"].string }
        try #require(users.count == 2)

        // Bash waits for the server's end, so it is told and not awaited for longer than that.
        primary.stop(fault == .stopped ? "INT" : "KILL")
        let lost = ContinuousClock.now
        try await eventually("nodes that are not ready", within: .seconds(20)) { () -> Bool? in
          for node in cluster.nodes where try await node.request(.GET, "/readyz", token: nil).status.code != 503 {
            return nil
          }
          return true
        }
        // The node that has the job carries a pause out at once.
        let paused = try await a.send(.POST, "/v1/jobs/\(job)/pause", #"{"users": ["\#(users[0])"]}"#)
        #expect(paused.status == 200 && paused.json["done"] == true)
        let left = Duration.seconds(fault == .promoted ? min(seconds, 30) : seconds) - (ContinuousClock.now - lost)
        let looks = max(1, Int(left / .seconds(2)))
        for _ in 0..<looks {
          for node in cluster.nodes {
            #expect(try await node.request(.GET, "/healthz", token: nil).status.code == 200)
          }
          #expect(ServiceNodes.isAlive(process))
          try await sleepOnEventLoop(for: .seconds(2))
        }
        let back = ContinuousClock.now
        if let standby {
          try standby.run("SELECT pg_promote()")
          // There is no other standby that a commit could wait for.
          try standby.run("ALTER SYSTEM RESET synchronous_standby_names")
          try standby.run("SELECT pg_reload_conf()")
        } else {
          try primary.start()
        }
        for node in cluster.nodes { try await node.waitUntilReady() }
        await scenario.note(
          "measured: the nodes were ready \((ContinuousClock.now - back) / .seconds(1)) s after the database")
        try await eventually("pause in the database", within: .seconds(20)) {
          try await b.job(job)["paused"]["users"].list.contains { $0.string == users[0] } ? true : nil
        }
        // All leases had ended, and nobody took the job over.
        try await sleepOnEventLoop(for: .seconds(ServiceTestForm.count(short: 5, whole: 35)))
        #expect(try await b.job(job)["attempt"].int == 1)
        #expect(try await a.process(of: job) == process)
        try await b.stop(job)
        try await b.wait(job, for: "finished", within: .seconds(60))

        let description = try cluster.description(of: job)
        #expect(description["complete"] == true && description["attempts"].list.count == 1)
        let recorded = description["users"].list
        #expect(recorded.count == 2)
        for user in recorded {
          let reasons = Set(user["gaps"].list.compactMap { $0["reason"].string })
          #expect(reasons == (user["id"].string == users[0] ? ["paused"] : []), "\(reasons)")
        }
        // The other one was recorded all the time.
        let files = recorded.first { $0["id"].string == users[1] }?["files"].list.filter { $0["kind"] == "webm" } ?? []
        let length = files.compactMap { $0["duration"].double }.reduce(0, +)
        let outage = (back - lost) / .seconds(1)
        #expect(length > outage, "\(length) s of \(outage) s are recorded")
        let types = try await cluster.expectEvents(of: job, by: b)
        #expect(types.count { $0 == "recording.paused" } == 1 && !types.contains("recording.resumed"))
        #expect(!types.contains("job.restarted"))
        try await cluster.end()
      }
    }

    @Test("a service that begins while its database is away is alive, waits for it, and takes its jobs over")
    func awayAtTheStart() async throws {
      try await Scenario.run("207 service before its database", limit: .seconds(120)) { scenario in
        let database = try PostgreSQLServer()
        defer { database.stop() }
        let url = database.url(try database.makeDatabase())
        let cluster = try await ServiceNodes.start(scenario, count: 1, try await scenario.server()) { _ in url }
        let service = cluster.a
        let job = try await cluster.record()
        try await service.receives(job, users: 1)
        let process = try await service.process(of: job)
        database.stop("KILL")
        _ = try await service.end(SIGKILL, within: .seconds(5))
        try await service.startAgain(waiting: false)
        try await eventually("answer of a service without its database", within: .seconds(10)) {
          try? await service.request(.GET, "/healthz", token: nil).status == .ok ? true : nil
        }
        let ready = try await service.request(.GET, "/readyz", token: nil)
        #expect(ready.status == .serviceUnavailable && ready.text.contains("database"))
        #expect(try await service.send(.GET, "/v1/jobs/\(job)").status == 503)
        #expect(ServiceNodes.isAlive(process))
        // A signal ends it all the same.
        #expect(try await service.end(SIGUSR2, within: .seconds(10)) == .exit(0))
        try await service.startAgain(waiting: false)
        try database.start()
        try await service.waitUntilReady()
        try await service.wait(job, for: "running", attempt: 1)
        #expect(try await service.process(of: job) == process)
        try await service.stop(job)
        try await service.wait(job, for: "finished", within: .seconds(60))
        let description = try cluster.description(of: job)
        #expect(description["complete"] == true && description["users"][0]["gaps"].list.isEmpty)
        _ = try await cluster.expectEvents(of: job, by: service)
        try await cluster.end()
      }
    }
  }
}
