import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// One call in a process of its own.
  @Suite("jobs") struct JobTests {
    private func pattern(_ scenario: Scenario, _ server: Server) async throws -> Bot {
      try await scenario.bot(in: "100", of: server, ["--play", "pattern"], name: "player")
    }

    @Test("a job records a room, says what it does, and ends when it is asked to")
    func recordsAndStops() async throws {
      try await Scenario.run("a job records and stops") { scenario in
        let server = try await scenario.server()
        let job = try await JobFolder(in: scenario, named: "job", server: server, ["options": ["segment": "2s"]])
        let process = try await job.start(in: scenario, secrets: #"{"pin":"hush4711"}"#)
        try await job.entry("joined")
        let player = try await pattern(scenario, server)
        let user = try #require(try await job.entry("participantJoined")["user"].string)
        try await job.entry("fileClosed")
        let answers = try job.ask([
          ["id": 1, "request": "hello"], ["id": 2, "request": "status"],
          ["id": 3, "request": "pause", "users": [.string(user)]],
          ["id": 4, "request": "snapshot", "user": .string(user)],
          ["id": 5, "request": "resume"],
        ])
        try #require(answers.count == 5)
        #expect(answers[0]["hello"]["job"] == "job" && answers[0]["hello"]["protocol"] == 1)
        let own = try #require(answers[0]["hello"]["process"].int)
        let status = answers[1]["status"]
        #expect(status["state"] == "joined" && status["users"].list.count == 1)
        #expect((status["users"][0]["counts"]["frames"].int ?? 0) > 10)
        #expect((status["bytesWritten"].int ?? 0) > 10_000)
        #expect(answers[2]["paused"]["state"]["users"].list.contains(.string(user)))
        #expect(answers[3]["error"]["code"] == "paused")
        #expect(answers[4]["paused"]["state"]["users"].list.isEmpty)
        for file in ["cmdline", "environ"] {
          let text = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(own)/\(file)"))
          #expect(text.range(of: Data("hush4711".utf8)) == nil, "\(file)")
        }
        let stop = try job.ask([["id": 6, "request": "stop"]])
        #expect(stop.first?["stopping"] == true)
        #expect(try await process.ending(within: .seconds(10)) == .exit(0))
        #expect(try await player.terminate().ending == .exit(0))

        let journal = try job.journal()
        #expect(journal.map { $0["seq"].int } == (1...journal.count).map { $0 })
        #expect(journal.first?["type"] == "started" && journal.last?["type"] == "ended")
        #expect(journal.last?["reason"] == "stopped" && journal.last?["exitCode"] == 0)
        let files = journal.filter { $0["type"] == "fileClosed" }
        let media = job.url.appendingPathComponent("media")
        let names = try FileManager.default.contentsOfDirectory(atPath: media.path)
        #expect(Set(names) == Set(files.compactMap { $0["name"].string }))
        for file in files {
          let path = media.appendingPathComponent(file["name"].string ?? "").path
          let hash = try ExternalTool.run("sha256sum", [path]).output.prefix(64)
          #expect(file["sha256"].string == String(hash), "\(path)")
        }
        #expect(try job.everything().range(of: Data("hush4711".utf8)) == nil)
        #expect(!job.isLocked)
      }
    }

    @Test("a job whose server ends the call says that the room has ended")
    func roomEnds() async throws {
      try await Scenario.run("a room that ends") { scenario in
        let server = try await scenario.server()
        let adapter = scenario.folder.appendingPathComponent("adapter.sh")
        let script = """
          echo '{"type":"hello","version":1,"capabilities":{}}'
          echo '{"type":"joined","id":"bot","participants":[]}'
          sleep 1
          echo '{"type":"ended","reason":"The host has closed the room."}'
          exec cat >/dev/null

          """
        try script.write(to: adapter, atomically: true, encoding: .utf8)
        let job = try await JobFolder(
          in: scenario, named: "job", server: server, ["server": ["url": .string("exec:sh '\(adapter.path)'")]])
        let process = try await job.start(in: scenario)
        #expect(try await process.ending(within: .seconds(20)) == .exit(0))
        let journal = try job.journal()
        #expect(journal.first?["type"] == "started" && journal.contains { $0["type"] == "joined" })
        #expect(journal.last?["type"] == "ended")
        #expect(journal.last?["reason"] == "roomEnded" && journal.last?["exitCode"] == 0)
        #expect(journal.last?["sentence"].string?.contains("The host has closed the room.") == true, "\(journal)")
      }
    }

    @Test("SIGKILL leaves a free lock and a journal that can be read, and the next process goes on paused")
    func killed() async throws {
      try await Scenario.run("a job is killed") { scenario in
        let server = try await scenario.server()
        let job = try await JobFolder(in: scenario, named: "job", server: server, ["options": ["segment": "2s"]])
        let process = try await job.start(in: scenario)
        try await job.entry("joined")
        let player = try await pattern(scenario, server)
        let user = try #require(try await job.entry("participantJoined")["user"].string)
        try await job.entry("fileClosed")
        let answers = try job.ask([
          ["id": 1, "request": "hello"], ["id": 2, "request": "pause", "users": [.string(user)]],
        ])
        let own = try #require(answers.first?["hello"]["process"].int)
        #expect(job.isLocked)
        kill(Int32(own), SIGKILL)
        _ = try await process.ending(within: .seconds(5))
        try await eventually("free lock", within: .seconds(2)) { job.isLocked ? nil : true }
        let before = try job.journal()
        #expect(before.last?["type"] == "paused")

        let next = try await job.start(in: scenario)
        try await eventually("second start", within: .seconds(10)) {
          try job.journal().count { $0["type"] == "joined" } == 2 ? true : nil
        }
        try await eventually("frames of the user", within: .seconds(10)) {
          let status = try job.ask([["id": 1, "request": "status"]]).first?["status"]["users"][0]
          return (status?["counts"]["frames"].int ?? 0) > 10 ? true : nil
        }
        let status = try job.ask([["id": 1, "request": "status"], ["id": 2, "request": "stop"]])
        #expect(status.first?["status"]["users"][0]["isPaused"] == true)
        #expect(status.first?["status"]["bytesWritten"] == 0)
        #expect(try await next.ending(within: .seconds(10)) == .exit(0))
        let journal = try job.journal()
        #expect(journal.map { $0["seq"].int } == (1...journal.count).map { $0 })
        #expect(journal[before.count]["paused"]["users"].list.contains(.string(user)))
        #expect(try await player.terminate().ending == .exit(0))
      }
    }

    @Test("a job outlives the process that started it, and ends when no service came")
    func orphan() async throws {
      try await Scenario.run("a job outlives its parent") { scenario in
        let server = try await scenario.server()
        let job = try await JobFolder(in: scenario, named: "job", server: server, ["orphanLimit": 6_000])
        let shell = try await job.start(in: scenario, inBackground: true)
        let own = try #require(try await job.entry("started")["process"].int)
        try await job.entry("joined")
        // A session of its own is one that no other process leads.
        #expect(getsid(Int32(own)) == Int32(own))
        kill(-shell.id, SIGKILL)
        try await sleepOnEventLoop(for: .seconds(1))
        let status = try job.ask([["id": 1, "request": "status"]])
        #expect(status.first?["status"]["state"] == "joined")
        let end = try await job.entry("ended", within: .seconds(20))
        #expect(end["reason"] == "drained")
        try await eventually("free lock", within: .seconds(5)) { job.isLocked ? nil : true }
      }
    }

    @Test("SIGTERM ends a job in order, also while it waits for its server")
    func terminated() async throws {
      try await Scenario.run("a job is terminated") { scenario in
        let server = try await scenario.server()
        let joined = try await JobFolder(in: scenario, named: "joined", server: server)
        let waiting = try await JobFolder(
          in: scenario, named: "waiting", server: server,
          ["server": ["url": "ws://127.0.0.1:1"], "options": ["waitForServer": "60s"]])
        for (job, type) in [(joined, "joined"), (waiting, "started")] {
          let process = try await job.start(in: scenario)
          let entry = try await job.entry(type)
          // Until it waits.
          try await sleepOnEventLoop(for: .seconds(2))
          kill(Int32(try #require(try job.journal().first?["process"].int)), SIGTERM)
          #expect(try await process.ending(within: .seconds(15)) == .exit(0), "\(entry)")
          #expect(try job.journal().last?["reason"] == "stopped")
        }
      }
    }

    @Test("jobs end with the reason that the server, the room or their input gives")
    func reasons() async throws {
      try await Scenario.run("a job ends for a reason") { scenario in
        let server = try await scenario.server()
        let cases: [(String, [String: JSON], String, Int32)] = [
          ("nobody", ["end": ["nobodyWithin": 1_000]], "nobodyCame", 0),
          ("duration", ["end": ["duration": 1_500]], "duration", 0),
          ("unreachable", ["server": ["url": "ws://127.0.0.1:1"]], "serverUnreachable", 69),
          ("input", ["kind": "play", "options": ["input": "missing.webm"], "library": "/nowhere"], "inputEnded", 66),
          ("usage", ["options": ["segment": "soon"]], "crashing", 64),
          (
            "check",
            [
              "kind": "check",
              "options": ["wait": "1s", "for": "1s", "expect": ["peers >= 1"], "noAudio": true],
            ], "duration", 1
          ),
        ]
        for (name, values, reason, code) in cases {
          let job = try await JobFolder(in: scenario, named: name, server: server, values)
          let process = try await job.start(in: scenario)
          #expect(try await process.ending(within: .seconds(20)) == .exit(code), "\(name)")
          let end = try job.journal().last ?? .null
          #expect(end["reason"] == .string(reason) && end["exitCode"].int == Int(code), "\(name): \(end)")
          #expect(end["sentence"].string?.isEmpty == false)
        }
      }
    }
  }
}
