import Foundation
import Media
import NIOHTTP1
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Many jobs at once.
  @Suite("a service with many jobs") struct ServiceCrowdTests {
    @Test("short jobs that wait for their turn end once each, and none is lost")
    func shortJobs() async throws {
      let count = ServiceTestForm.count(short: 30, whole: 500)
      try await Scenario.run("83 many short jobs", limit: .seconds(60 + count)) { scenario in
        let server = try await scenario.server(["--users-per-room", "10"])
        let service = try await RunningService.start(scenario, servers: ["main": server])
        var jobs: [String] = []
        // In parts, since a token has 100 requests a second.
        for start in stride(from: 0, to: count, by: 50) {
          jobs += try await concurrently(Array(start..<min(start + 50, count))) { number in
            try await service.submit(
              #"{"kind": "record", "room": "short-\#(number)", "end": {"duration": "1s"}, "queueFor": "1h"}"#)
          }
          try await sleepOnEventLoop(for: .seconds(1))
        }
        #expect(Set(jobs).count == count)
        let ended = try await eventually("end of \(count) jobs", within: .seconds(60 + count / 2), every: .seconds(1)) {
          let ended = try await Self.jobs(of: service)
          return ended.count == count && ended.allSatisfy { $0["endedAt"].string != nil } ? ended : nil
        }
        #expect(Set(ended.compactMap { $0["id"].string }) == Set(jobs))
        for job in ended {
          #expect(job["state"].string == "finished" && job["reason"].string == "duration", "\(job)")
          #expect(job["attempt"].int == 1, "\(job)")
        }
        let events = Dictionary(grouping: try await service.allEvents(at: "/v1/events")) { $0["job"].string ?? "" }
        #expect(Set(events.keys) == Set(jobs))
        for (job, events) in events {
          #expect(events.map { $0["sequence"].int } == events.indices.map { $0 + 1 }, "\(job)")
          let types = events.compactMap { $0["type"].string }
          #expect(types.first == "job.started" && types.last == "job.finished", "\(job): \(types)")
          for type in ["job.started", "recording.finished", "job.finished"] {
            #expect(types.count { $0 == type } == 1, "\(job): \(types)")
          }
        }
        #expect(service.manifests().count == count)
        try await service.expectNoFolders()
        #expect(try await service.end(SIGTERM) == .exit(0))
        await service.forgetProcesses()
      }
    }

    /// All jobs of the service.
    private static func jobs(of service: RunningService) async throws -> [JSON] {
      var jobs: [JSON] = []
      var after = ""
      while true {
        let page = try await service.send(.GET, "/v1/jobs?limit=200\(after)").json
        jobs += page["jobs"].list
        guard let last = page["after"].string else { return jobs }
        after = "&after=\(last)"
      }
    }

    @Test(
      "twelve rooms of five users lose no frame, also while more is submitted than the machine can carry",
      .enabled(if: ServiceTestForm.isWhole))
    func rooms() async throws {
      let size = VideoSize(width: 160, height: 120)
      try await Scenario.run("84 twelve rooms", limit: .seconds(300)) { scenario in
        let server = try await scenario.server()
        let service = try await RunningService.start(scenario, servers: ["main": server], limits: "{minimumFree: 1MB}")
        let rooms = (1...12).map { "crowd-\($0)" }
        var jobs: [String] = []
        for room in rooms {
          jobs.append(try await service.submit(#"{"kind": "record", "room": "\#(room)"}"#))
          _ = try await scenario.publishers(5, in: room, of: server)
        }
        for job in jobs {
          try await service.wait(job, for: "running")
          try await service.receives(job, users: 5, within: .seconds(60))
        }
        try await sleepOnEventLoop(for: .seconds(20))
        // Until there is no room.
        var refused: (status: UInt, json: JSON)?
        var further: [String] = []
        for number in 1...200 {
          let answer = try await service.send(.POST, "/v1/jobs", #"{"kind": "record", "room": "further-\#(number)"}"#)
          guard answer.status == 201 else {
            refused = answer
            break
          }
          further.append(answer.json["id"].string ?? "")
        }
        await scenario.note("measured: \(further.count) further jobs, then \(refused?.json ?? .null)")
        #expect(refused?.status == 503)
        #expect(["processors", "memory"].contains(refused?.json["resource"].string ?? ""))
        #expect((refused?.json["needed"].int ?? 0) > (refused?.json["free"].int ?? .max))
        try await sleepOnEventLoop(for: .seconds(20))
        for job in jobs + further { try await service.stop(job) }
        for job in jobs + further { try await service.wait(job, for: "finished", within: .seconds(90)) }
        for job in jobs {
          let recording = try StoredRecording(of: job, in: service)
          try recording.expectWhole()
          #expect(recording.document["attempts"].list.count == 1)
          #expect(recording.users.count == 5)
          for user in recording.users {
            #expect(user["gaps"].list.isEmpty)
            let (frames, holes) = try recording.expectEveryFrame(
              of: user, size: size, tolerance: 0.4, scratch: scenario.folder)
            #expect(frames > 300, .onQuietMachine("the publishers keep up"))
            #expect(holes == 0, .onQuietMachine("no frame of \(frames) is lost"))
          }
        }
        #expect(try await service.end(SIGTERM) == .exit(0))
        await service.forgetProcesses()
      }
    }
  }
}
