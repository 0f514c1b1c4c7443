import Foundation
import TestSupport
import Testing

extension EndToEndWaiting {
  /// Two services with one database of PostgreSQL and one store, and the job processes of the same build.
  @Suite("two nodes of the service", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct ServiceNodesTests {
    @Test(
      "when a node is killed with its processes, another one has joined within 40 s, and one manifest has both parts")
    func killed() async throws {
      try await ServiceNodes.run("75 service whose node is killed", limit: .seconds(240)) { _, cluster in
        let (a, b) = (cluster.a, cluster.b)
        let job = try await cluster.record()
        try await sleepOnEventLoop(for: .seconds(6))
        let killed = ContinuousClock.now
        try await cluster.killFirst(with: [job])
        try await cluster.expectTakeover(of: job, since: killed)
        try await sleepOnEventLoop(for: .seconds(4))
        try await b.stop(job)
        // The files of the first attempt are on the node that is gone.
        try await b.wait(job, for: "storing")
        try await a.startAgain()
        try await b.wait(job, for: "finished", within: .seconds(90))

        let description = try cluster.description(of: job)
        #expect(description["complete"] == true)
        #expect(description["attempts"].list.map { $0["node"].string } == ["a", "b"])
        let gaps = description["users"][0]["gaps"].list
        #expect(gaps.contains { $0["reason"].string == "nodeLost" && $0["kind"].string == "video" })
        #expect(!gaps.contains { $0["reason"].string == "processLost" })
        let files = description["users"][0]["files"].list
        #expect(Set(files.compactMap { $0["attempt"].int }) == [1, 2])
        let types = try await cluster.expectEvents(of: job, by: b)
        #expect(types.count { $0 == "job.restarted" } == 1)
        try await cluster.end()
      }
    }

    @Test("a node that ends hands its job over with an overlap and without a gap")
    func drained() async throws {
      try await ServiceNodes.run(
        "76 service whose node ends", limit: .seconds(180), settings: "drainTimeout: 1s"
      ) { _, cluster in
        let (a, b) = (cluster.a, cluster.b)
        let job = try await cluster.record(users: 2)
        try await sleepOnEventLoop(for: .seconds(6))
        #expect(try await a.end(SIGTERM, within: .seconds(60)) == .exit(0))
        try await b.wait(job, for: "running", attempt: 2)
        try await sleepOnEventLoop(for: .seconds(4))
        try await b.stop(job)
        try await b.wait(job, for: "finished", within: .seconds(60))
        let description = try cluster.description(of: job)
        #expect(description["complete"] == true)
        let users = description["users"].list.filter { $0["files"].list.contains { $0["kind"].string == "webm" } }
        #expect(users.count == 2)
        for user in users {
          #expect(user["gaps"].list.isEmpty)
          let kinds = user["overlaps"].list.compactMap { $0["kind"].string }
          #expect(kinds.contains("video") && kinds.contains("audio"))
        }
        try await cluster.end([b])
        await a.forgetProcesses()
      }
    }
  }
}
