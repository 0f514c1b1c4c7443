import Foundation
import HTTPTransport
import NIOHTTP1
import TestSupport
import Testing

extension EndToEndWaiting {
  /// Nodes that stand still, are cut off or are lost. These take minutes, so only `make service` runs them;
  /// `ClusterServiceTests` has a node that is killed.
  @Suite(
    "nodes that stand still, are cut off or are lost", .serialized,
    .enabled(if: PostgreSQLServer.isInstalled && ServiceTestForm.isWhole))
  struct ServiceNodeLossTests {
    /// Expects that a recording has both attempts, with a gap or an overlap of each user.
    private func expectBoth(_ description: JSON) {
      #expect(description["complete"] == true)
      #expect(description["attempts"].list.map { $0["node"].string } == ["a", "b"])
      #expect(description["attempts"][0]["how"].string == "was lost with the node a")
      for user in description["users"].list {
        #expect(Set(user["files"].list.compactMap { $0["attempt"].int }) == [1, 2])
        #expect(!user["gaps"].list.isEmpty || !user["overlaps"].list.isEmpty)
      }
    }

    @Test("a node that stands still for 60 s is superseded within 40 s, and ends its process when it hears of it")
    func suspended() async throws {
      try await ServiceNodes.run("201 service node that stands still", limit: .seconds(240)) { scenario, cluster in
        let (a, b) = (cluster.a, cluster.b)
        let job = try await cluster.record(#"{"segment": "5s"}"#)
        try await sleepOnEventLoop(for: .seconds(12))
        let process = try await a.process(of: job)
        let stopped = ContinuousClock.now
        await a.process.signal(SIGSTOP)
        try await cluster.expectTakeover(of: job, since: stopped)
        // Its process goes on meanwhile.
        #expect(ServiceNodes.isAlive(process))
        try await sleepOnEventLoop(for: .seconds(60) - (ContinuousClock.now - stopped))
        await a.process.signal(SIGCONT)
        let ended = try await ServiceNodes.end(of: process, within: .seconds(20))
        await scenario.note("measured: the former process had ended after \(ended) s")
        let stall = await scenario.stall / 1_000
        #expect(ended < 15 + stall, .onQuietMachine("the former attempt ends when it hears of it"))
        #expect(try await a.job(job)["attempt"].int == 2)
        try await sleepOnEventLoop(for: .seconds(4))
        try await b.stop(job)
        try await b.wait(job, for: "finished", within: .seconds(90))
        expectBoth(try cluster.description(of: job))
        let types = try await cluster.expectEvents(of: job, by: b)
        #expect(types.count { $0 == "job.restarted" } == 1)
        try await cluster.end()
      }
    }

    /// The address at which the node `a` reaches the database. Packets of it are dropped.
    private static let address = "127.0.0.2"

    private func cut(_ scenario: Scenario, port: Int) async throws {
      let rules = """
        table ip cut {
          chain out {
            type filter hook output priority 0;
            ip daddr \(Self.address) tcp dport \(port) drop
            ip saddr \(Self.address) tcp sport \(port) drop
          }
        }
        """
      try await nft(scenario, "nft -f - <<'END'\n\(rules)\nEND")
    }

    private func nft(_ scenario: Scenario, _ command: String) async throws {
      let shell = try await scenario.program("nft", ["sh", "-ec", "PATH=$PATH:/usr/sbin\n\(command)"])
      try #require(try await shell.ending(within: .seconds(10)) == .exit(0), "\(shell.output)")
    }

    @Test(
      "a node that is cut off from the database for 90 s is superseded within 40 s, records on, and ends when it is back",
      .enabled(if: Machine.hasNetworkLab))
    func cutOff() async throws {
      try await Scenario.run("202 service node that is cut off", isolated: true, limit: .seconds(360)) { scenario in
        let port = try await scenario.network.freePort()
        let database = try PostgreSQLServer(
          settings: ["listen_addresses=*"], prefix: scenario.network.prefix, port: port)
        defer { database.stop() }
        let url = database.url(try database.makeDatabase())
        let server = try await scenario.server()
        let cluster = try await ServiceNodes.start(scenario, server) {
          $0 == 0 ? url.replacing("127.0.0.1", with: Self.address) : url
        }
        let (a, b) = (cluster.a, cluster.b)
        let job = try await cluster.record(#"{"segment": "5s"}"#)
        try await sleepOnEventLoop(for: .seconds(12))
        let process = try await a.process(of: job)
        try await cut(scenario, port: port)
        let cut = ContinuousClock.now
        do {
          try await cluster.expectTakeover(of: job, since: cut)
          // The node cannot know: its process records on, and it says that it is not ready.
          #expect(ServiceNodes.isAlive(process))
          #expect(try await a.request(.GET, "/healthz", token: nil).status.code == 200)
          let ready = try await a.request(.GET, "/readyz", token: nil)
          #expect(ready.status.code == 503 && ready.text.contains("database"))
          try await sleepOnEventLoop(for: .seconds(90) - (ContinuousClock.now - cut))
          #expect(ServiceNodes.isAlive(process))
        } catch {
          try? await nft(scenario, "nft delete table ip cut")
          throw error
        }
        try await nft(scenario, "nft delete table ip cut")
        // A statement that hangs ends after 8 s; then it hears of it.
        let ended = try await ServiceNodes.end(of: process, within: .seconds(40))
        await scenario.note("measured: the former process had ended \(ended) s after the cut was mended")
        let stall = await scenario.stall / 1_000
        #expect(ended < 25 + stall, .onQuietMachine("the former attempt ends when it hears of it"))
        try await a.waitUntilReady()
        try await b.stop(job)
        try await b.wait(job, for: "finished", within: .seconds(90))
        expectBoth(try cluster.description(of: job))
        _ = try await cluster.expectEvents(of: job, by: b)
        try await cluster.end()
      }
    }

    @Test(
      "what only a lost node has is missing in the description; when the node returns, a second description has it")
    func lostAndBack() async throws {
      try await ServiceNodes.run(
        "203 service node that is lost", limit: .seconds(360), settings: "nodeLossTimeout: 60s"
      ) { _, cluster in
        let (a, b) = (cluster.a, cluster.b)
        // One file has been stored when the node is lost, and the open one has not.
        let job = try await cluster.record(#"{"segment": "5s"}"#)
        try await eventually("stored file", within: .seconds(30)) {
          try await a.allEvents(job).contains { $0["type"] == "recording.file" } ? true : nil
        }
        try await sleepOnEventLoop(for: .seconds(2))
        try await cluster.killFirst(with: [job])
        try await b.wait(job, for: "running", attempt: 2, within: .seconds(90))
        try await sleepOnEventLoop(for: .seconds(4))
        try await b.stop(job)
        try await b.wait(job, for: "storing")
        try await b.wait(job, for: "finished", within: .seconds(150))
        let first = try cluster.description(of: job)
        #expect(first["complete"] == false)
        let missing = first["missing"].list
        #expect(missing.count == 1 && missing[0]["name"].string?.hasPrefix("1-") == true)
        #expect(missing.first?["reason"].string == "The node a, which had it, is lost.")
        // What it had stored is there, and the rest is a gap.
        #expect(Set(first["users"][0]["files"].list.compactMap { $0["attempt"].int }) == [1, 2])
        #expect(first["users"][0]["gaps"].list.contains { $0["reason"] == "nodeLost" })
        let before = try await cluster.expectEvents(of: job, by: b)
        #expect(!before.contains("recording.amended"))

        try await a.startAgain()
        try await eventually("second description", within: .seconds(90)) {
          cluster.descriptions("recording.2.json").isEmpty ? nil : true
        }
        let types = try await eventually("event of the second description", within: .seconds(10)) {
          let types = try await b.allEvents(job).compactMap { $0["type"].string }
          return types.last == "recording.amended" ? types : nil
        }
        #expect(types.count { $0 == "recording.amended" } == 1)
        let second = try cluster.description(of: job, "recording.2.json")
        #expect(second["complete"] == true && second["missing"].list.isEmpty)
        #expect(second["objects"].list.count > first["objects"].list.count)
        #expect(Set(second["users"][0]["files"].list.compactMap { $0["attempt"].int }) == [1, 2])
        // The first one stays as it is, and both can be read by the API.
        #expect(try cluster.description(of: job)["complete"] == false)
        for name in ["recording.json", "recording.2.json"] {
          #expect(try await b.request(.GET, "/v1/jobs/\(job)/files/\(name)", token: b.adminToken).status.code == 200)
        }
        try await cluster.end()
      }
    }

    @Test("a pause outlives the loss of its node: the next attempt begins paused, also by a pause of meanwhile")
    func pausedTakeover() async throws {
      try await ServiceNodes.run(
        "204 service paused while a node is taken over", limit: .seconds(240)
      ) { _, cluster in
        let (a, b) = (cluster.a, cluster.b)
        let jobs = [try await cluster.record(), try await cluster.record(users: 0)]
        try await sleepOnEventLoop(for: .seconds(6))
        // One is paused before its node is lost, the other one while nobody has it.
        #expect(try await a.command("pause", jobs[0])["done"] == true)
        try await cluster.killFirst(with: jobs)
        #expect(try await b.command("pause", jobs[1])["done"] == false)
        for job in jobs { try await b.wait(job, for: "running", attempt: 2, within: .seconds(90)) }
        for job in jobs {
          try await eventually("pause of the next attempt", within: .seconds(15)) {
            try await b.send(.GET, "/v1/jobs/\(job)/live").json["paused"]["all"] == true ? true : nil
          }
          #expect(try await b.job(job)["paused"]["all"] == true)
        }
        try await sleepOnEventLoop(for: .seconds(5))
        for job in jobs { try await b.stop(job) }
        try await a.startAgain()
        for job in jobs { try await b.wait(job, for: "finished", within: .seconds(90)) }
        // Nothing of the time after the pause is in a file of the first one.
        let files = try cluster.description(of: jobs[0])["users"].list.flatMap { $0["files"].list }
        #expect(!files.isEmpty && files.allSatisfy { $0["attempt"] == 1 })
        for job in jobs { #expect(try await b.job(job)["paused"]["all"] == true) }
        try await cluster.end()
      }
    }
  }
}
