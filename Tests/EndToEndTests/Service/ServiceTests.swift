import Foundation
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// The service with the job processes of the same build.
  @Suite("the service of jobs") struct ServiceTests {
    private static let pattern = ["--play", "pattern", "--size", "160x120", "--fps", "15"]

    /// Checks the manifest of a recording: every object is there, whole and unchanged.
    private func manifest(_ service: RunningService) throws -> JSON {
      let files = service.manifests()
      try #require(files.count == 1)
      let manifest = try JSON(parsing: String(contentsOf: files[0], encoding: .utf8))
      let objects = manifest["objects"].list
      #expect(!objects.isEmpty)
      for object in objects {
        let file = service.object(object["object"].string ?? "")
        #expect(try Data(contentsOf: file).count == object["bytes"].int)
        #expect(try sha256(file) == object["sha256"].string, "\(file.lastPathComponent)")
      }
      return manifest
    }

    private func sha256(_ file: URL) throws -> String {
      let result = try ExternalTool.run("sha256sum", [file.path])
      return String(result.output.prefix { $0 != " " })
    }

    private func types(_ events: [JSON]) -> [String] { events.compactMap { $0["type"].string } }

    /// Checks that the events of a job have the numbers from 1 without holes.
    private func expectInOrder(_ events: [JSON]) {
      #expect(events.map { $0["sequence"].int } == Array(1...max(events.count, 1)).map { Optional($0) })
    }

    /// Checks that no video frame is missing in the middle of a file.
    private func expectUnbroken(_ manifest: JSON, _ service: RunningService, _ scenario: Scenario) async throws {
      for file in manifest["users"].list.flatMap({ $0["files"].list }) where file["kind"].string == "webm" {
        let recording = try Recording(service.object(file["object"].string ?? ""))
        let gap = try #require(recording.video).longestGap
        let stall = await scenario.stall
        #expect(gap < 0.5 + stall / 1_000, "\(recording.file.lastPathComponent)")
        #expect(try recording.decodingErrors() == "")
      }
    }

    @Test("a room of three users becomes files, events in order and a manifest that comes last")
    func whole() async throws {
      try await Scenario.run("70 service", limit: .seconds(120)) { scenario in
        let server = try await scenario.server()
        let service = try await RunningService.start(scenario, servers: ["main": server])
        for number in 1...3 {
          _ = try await scenario.bot(in: "100", of: server, Self.pattern, name: "user \(number)")
        }
        let job = try await service.submit(#"{"kind": "record", "room": "100", "labels": {"meeting": "42"}}"#)
        try await service.wait(job, for: "running")
        try await eventually("status of three users", within: .seconds(20)) {
          let live = try await service.send(.GET, "/v1/jobs/\(job)/live")
          return live.json["users"].list.count { ($0["counts"]["frames"].int ?? 0) > 50 } == 3 ? true : nil
        }
        try await service.stop(job)
        // Whoever sees the manifest can read all that it lists.
        try await eventually("manifest", within: .seconds(30), every: .milliseconds(5)) { () -> Bool? in
          guard let file = service.manifests().first else { return nil }
          let manifest = try JSON(parsing: String(contentsOf: file, encoding: .utf8))
          for object in manifest["objects"].list {
            #expect(FileManager.default.fileExists(atPath: service.object(object["object"].string ?? "").path))
          }
          return true
        }
        let ended = try await service.wait(job, for: "finished")
        #expect(ended["reason"].string == "stopped")
        let manifest = try manifest(service)
        #expect(manifest["complete"] == true)
        #expect(manifest["labels"]["meeting"].string == "42")
        #expect(manifest["users"].list.count == 3)
        #expect(manifest["users"].list.allSatisfy { $0["gaps"].list.isEmpty && $0["files"].list.count == 2 })
        try await expectUnbroken(manifest, service, scenario)

        let events = try await service.events(job)
        expectInOrder(events)
        let kinds = types(events)
        #expect(kinds.first == "job.started")
        #expect(Array(kinds.suffix(2)) == ["recording.finished", "job.finished"])
        #expect(kinds.count { $0 == "participant.joined" } == 3)
        let recorded = manifest["objects"].list.filter { $0["kind"].string != "log" }
        #expect(kinds.count { $0 == "recording.file" } == recorded.count)
        #expect(try await service.end(SIGTERM) == .exit(0))
        await service.forgetProcesses()
      }
    }

    @Test("100 submissions of one key at once make one job, as do 100 of one uniqueKey")
    func keys() async throws {
      try await Scenario.run("73 service with equal submissions", limit: .seconds(60)) { scenario in
        let server = try await scenario.server()
        let service = try await RunningService.start(scenario, servers: ["main": server])
        let body = #"{"kind": "record", "room": "keys"}"#
        // In parts, since a token has 100 requests a second.
        var answers: [(status: UInt, json: JSON)] = []
        for _ in 0..<2 {
          answers += try await concurrently(Array(0..<50)) { _ in
            try await service.send(.POST, "/v1/jobs", body, headers: ["Idempotency-Key": "key-1"])
          }
          try await sleepOnEventLoop(for: .seconds(1.1))
        }
        #expect(answers.count { $0.status == 201 } == 1)
        #expect(answers.count { $0.status == 200 } == 99)
        #expect(Set(answers.map { $0.json["id"].string }).count == 1)

        let unique = #"{"kind": "record", "room": "unique", "uniqueKey": "one"}"#
        answers = []
        for _ in 0..<2 {
          answers += try await concurrently(Array(0..<50)) { _ in
            try await service.send(.POST, "/v1/jobs", unique)
          }
          try await sleepOnEventLoop(for: .seconds(1.1))
        }
        #expect(answers.count { $0.status == 201 } == 1)
        #expect(answers.count { $0.status == 409 } == 99)
        let jobs = try await service.send(.GET, "/v1/jobs").json["jobs"].list
        #expect(jobs.count == 2)
        for job in jobs { try await service.stop(job["id"].string ?? "") }
        for job in jobs { try await service.wait(job["id"].string ?? "", for: "finished") }
        #expect(try await service.end(SIGTERM) == .exit(0))
        await service.forgetProcesses()
      }
    }

    @Test("jobs end with their reasons: nobody came, all left, the server refuses, the time is over")
    func ends() async throws {
      try await Scenario.run("74 service and the ends of jobs", limit: .seconds(120)) { scenario in
        let server = try await scenario.server()
        let full = try await scenario.server(["--users-per-room", "1"])
        _ = try await scenario.bot(in: "full", of: full, Self.pattern, name: "only user")
        let service = try await RunningService.start(scenario, servers: ["main": server, "full": full])
        let leaving = try await scenario.bot(in: "left", of: server, Self.pattern, name: "leaving")
        let nobody = try await service.submit(
          #"{"kind": "record", "room": "nobody", "server": "main", "end": {"nobodyWithin": "2s"}}"#)
        let empty = try await service.submit(
          #"{"kind": "record", "room": "left", "server": "main", "end": {"emptyFor": "2s"}}"#)
        let refused = try await service.submit(#"{"kind": "record", "room": "full", "server": "full"}"#)
        let short = try await service.submit(
          #"{"kind": "play", "room": "short", "server": "main", "play": {"input": "pattern"}, "end": {"duration": "3s"}}"#
        )
        try await service.wait(empty, for: "running")
        try await eventually("user", within: .seconds(20)) {
          try await types(service.events(empty)).contains("participant.joined") ? true : nil
        }
        _ = try await leaving.terminate()
        for (job, state, reason) in [
          (nobody, "finished", "nobodyCame"), (empty, "finished", "empty"), (refused, "failed", "serverRefused"),
          (short, "finished", "duration"),
        ] {
          let ended = try await service.wait(job, for: state)
          #expect(ended["reason"].string == reason)
          #expect(ended["sentence"].string?.isEmpty == false)
          let events = try await service.events(job)
          expectInOrder(events)
          #expect(types(events).last == "job.\(state)")
        }
        #expect(try await service.end(SIGTERM) == .exit(0))
        await service.forgetProcesses()
      }
    }
  }
}
