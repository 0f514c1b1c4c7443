import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// A service that is killed while it stores the files of a job.
  @Suite("a service that is killed while it stores") struct ServiceStoringTests {
    @Test("each object is stored once, with its event, and recording.json is the last one")
    func storing() async throws {
      let points = ServiceTestForm.count(short: 4, whole: 25)
      try await Scenario.run("82 service killed while it stores", limit: .seconds(90 + points * 4)) { scenario in
        let server = try await scenario.server()
        let service = try await RunningService.start(scenario, servers: ["main": server])
        _ = try await scenario.publishers(3, in: "100", of: server)
        let job = try await service.submit(#"{"kind": "record", "room": "100", "record": {"segment": "1s"}}"#)
        try await service.wait(job, for: "running")
        try await service.receives(job, users: 3)
        // While no service runs, nothing is stored.
        _ = try await service.end(SIGKILL)
        try await sleepOnEventLoop(for: .seconds(ServiceTestForm.count(short: 5, whole: 15)))
        try await service.startAgain()
        try await service.stop(job)

        var generator = SystemRandomNumberGenerator()
        var killed = 0
        while killed < points {
          let before = service.storedFiles().count
          // Every third kill is one while an object is being written.
          let isEarly = killed % 3 == 0
          let isOver = try await eventually("next object", within: .seconds(20), every: .milliseconds(1)) {
            () -> Bool? in
            if !service.manifests().isEmpty { return true }
            if isEarly, service.drafts() > 0 { return false }
            return service.storedFiles().count > before ? false : nil
          }
          try await sleepOnEventLoop(for: .microseconds(Int.random(in: 0...12_000, using: &generator)))
          _ = try await service.end(SIGKILL)
          killed += 1
          if let manifest = service.manifests().first {
            let document = try JSON(parsing: String(contentsOf: manifest, encoding: .utf8))
            for object in document["objects"].list {
              let file = service.object(object["object"].string ?? "")
              #expect(FileManager.default.fileExists(atPath: file.path), "\(file.lastPathComponent) is there")
            }
          }
          try await service.startAgain(waiting: false)
          if isOver { break }
        }
        await scenario.note("measured: the service was killed at \(killed) points of storing")
        #expect(killed >= points * 3 / 4, .onQuietMachine("there were objects for all points"))
        try await service.waitUntilReady()
        let ended = try await service.wait(job, for: "finished", within: .seconds(90))
        #expect(ended["reason"].string == "stopped")
        let recording = try StoredRecording(of: job, in: service)
        try recording.expectWhole()
        #expect(recording.document["attempts"].list.count == 1)
        #expect(recording.users.count == 3 && recording.users.allSatisfy { $0["gaps"].list.isEmpty })
        #expect(service.drafts() == 0)

        let events = try await service.allEvents(job)
        #expect(events.map { $0["sequence"].int } == events.indices.map { $0 + 1 })
        let types = events.compactMap { $0["type"].string }
        #expect(Array(types.suffix(2)) == ["recording.finished", "job.finished"])
        #expect(types.count { $0 == "recording.finished" } == 1 && types.count { $0 == "job.finished" } == 1)
        let files = events.filter { $0["type"] == "recording.file" }.compactMap { $0["data"]["object"].string }
        let recorded = recording.objects.filter { $0["kind"] != "log" }.compactMap { $0["object"].string }
        #expect(files.sorted() == recorded.sorted())
        try await service.expectNoFolders()
        #expect(try await service.end(SIGTERM) == .exit(0))
        await service.forgetProcesses()
      }
    }
  }
}
