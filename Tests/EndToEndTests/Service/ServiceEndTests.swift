import Foundation
import HTTPTransport
import NIOHTTP1
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// The ends of jobs that a failure causes. Those of a quiet day are in `ServiceTests`.
  @Suite("the ends of jobs by failures") struct ServiceEndTests {
    private static let pattern = ["--play", "pattern", "--size", "160x120", "--fps", "15"]

    /// Waits for the end of a job, and checks what it says of it.
    @discardableResult
    private func expectEnd(
      of job: String, _ state: String, _ reason: String, in service: RunningService,
      within limit: Duration = .seconds(30)
    ) async throws -> JSON {
      let ended = try await service.wait(job, for: state, within: limit)
      #expect(ended["reason"].string == reason, "\(ended)")
      #expect(ended["sentence"].string?.isEmpty == false)
      let events = try await service.events(job)
      #expect(events.map { $0["sequence"].int } == (1...max(1, events.count)).map { Optional($0) })
      #expect(events.last?["type"].string == "job.\(state)")
      #expect(events.last?["data"]["reason"].string == reason)
      return ended
    }

    /// Writes a program that does something else than `chatbot` when it is to run a job.
    private func program(_ name: String, instead: String, in folder: URL) throws -> String {
      let file = folder.appendingPathComponent(name)
      let script = """
        #!/bin/sh
        if [ "$1" = job ]; then \(instead); fi
        exec '\(try BuiltProgram.path())' "$@"

        """
      try script.write(to: file, atomically: true, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
      return file.path
    }

    @Test("a process that crashes at its start is started five times, and a stop between two starts ends the job")
    func crashing() async throws {
      try await Scenario.run("93 processes that crash at the start", limit: .seconds(120)) { scenario in
        let server = try await scenario.server()
        let starts = scenario.folder.appendingPathComponent("starts")
        let crashing = try program(
          "crashing", instead: "echo >>'\(starts.path)'; kill -s SEGV $$", in: scenario.folder)
        let service = try await RunningService.start(
          scenario, servers: ["main": server], surroundings: .init(jobProgram: crashing))
        let job = try await service.submit(#"{"kind": "record", "room": "100"}"#)
        let ended = try await expectEnd(of: job, "failed", "crashing", in: service, within: .seconds(60))
        #expect(ended["attempt"].int == 5)
        #expect(try String(contentsOf: starts, encoding: .utf8).count == 5)
        // A job that ends between two attempts does so at once.
        let stopped = try await service.submit(#"{"kind": "record", "room": "100"}"#)
        try await eventually("second start", within: .seconds(20)) {
          try await service.job(stopped)["attempt"].int ?? 0 >= 2 ? true : nil
        }
        try await service.stop(stopped)
        try await expectEnd(of: stopped, "finished", "stopped", in: service, within: .seconds(10))
        #expect(try await service.end(SIGTERM) == .exit(0))
      }
    }

    @Test("jobs end with their reasons: no capacity, no server, the end of the input, the end of the service")
    func reasons() async throws {
      try await Scenario.run("94 failures of jobs", limit: .seconds(120)) { scenario in
        let server = try await scenario.server()
        let gone = try await scenario.server()
        try await gone.kill()
        let library = scenario.folder.appendingPathComponent("library")
        try FileManager.default.createDirectory(at: library, withIntermediateDirectories: true)
        _ = try BuiltProgram.shortSample(in: library)
        // Two of three ports may be used.
        let port = Int.random(in: 47_000..<57_000)
        let service = try await RunningService.start(
          scenario, servers: ["main": server, "gone": gone],
          settings: """
            library: \(library.path)
            media: {udpPorts: \(port)-\(port + 2)}
            drainTimeout: 1s
            """)
        let unreachable = try await service.submit(
          #"{"kind": "record", "server": "gone", "room": "1", "record": {"waitForServer": "1s"}}"#)
        try await expectEnd(of: unreachable, "failed", "serverUnreachable", in: service, within: .seconds(60))

        let drained = try await service.submit(#"{"kind": "record", "room": "drained"}"#)
        try await service.wait(drained, for: "running")
        _ = try await scenario.bot(
          in: "played", of: server, ["--record", await scenario.recordings().url.path], name: "viewer")
        let played = try await service.submit(
          #"{"kind": "play", "room": "played", "play": {"input": "short.webm", "once": true}}"#)
        let (status, refusal) = try await service.send(.POST, "/v1/jobs", #"{"kind": "record", "room": "third"}"#)
        #expect(status == 503)
        #expect(refusal["resource"] == "udpPorts" && refusal["needed"] == 1 && refusal["free"] == 0)
        let waiting = try await service.submit(#"{"kind": "record", "room": "third", "queueFor": "1s"}"#)
        try await expectEnd(of: waiting, "failed", "noCapacity", in: service)
        try await expectEnd(of: played, "finished", "inputEnded", in: service)
        // There is room again.
        let later = try await service.submit(
          #"{"kind": "record", "room": "third", "queueFor": "30s", "end": {"nobodyWithin": "1s"}}"#)
        try await expectEnd(of: later, "finished", "nobodyCame", in: service)

        #expect(try await service.end(SIGTERM) == .exit(0))
        try await service.startAgain()
        try await expectEnd(of: drained, "finished", "drained", in: service)
        #expect(try await service.end(SIGTERM) == .exit(0))
        await service.forgetProcesses()
      }
    }

    @Test("a disk that is full ends a job with that reason, and what was recorded is stored when there is room again")
    func diskFull() async throws {
      try await Scenario.run("95 service on a full disk", limit: .seconds(180)) { scenario in
        let disk = try await scenario.smallDisk(megabytes: 24)
        let server = try await scenario.server()
        _ = try await scenario.bot(
          in: "100", of: server, ["--play", BuiltProgram.sample.path, "--loop"], name: "player")
        let service = try await RunningService.start(
          scenario, servers: ["main": server], surroundings: .init(disk: disk))
        let job = try await service.submit(
          #"{"kind": "record", "room": "100", "record": {"queueMemory": "1MiB"}}"#)
        try await service.wait(job, for: "running")
        try await sleepOnEventLoop(for: .seconds(4))
        let process = try await service.process(of: job)
        try disk.fill()
        try await eventually("end of the process", within: .seconds(60)) { kill(process, 0) == 0 ? nil : true }
        // The service answers meanwhile, and accepts no job.
        #expect(try await service.request(.GET, "/healthz", token: nil).status == .ok)
        #expect(try await service.request(.GET, "/readyz", token: nil).status == .serviceUnavailable)
        let (status, _) = try await service.send(.POST, "/v1/jobs", #"{"kind": "record", "room": "100"}"#)
        #expect(status == 503)
        try disk.makeRoom()
        try await expectEnd(of: job, "failed", "diskFull", in: service, within: .seconds(60))
        let manifests = service.manifests()
        try #require(manifests.count == 1)
        let manifest = try JSON(parsing: String(contentsOf: manifests[0], encoding: .utf8))
        let video = manifest["users"].list.flatMap { $0["files"].list }.filter { $0["kind"] == "webm" }
        #expect(!video.isEmpty)
        for file in video {
          let recording = try Recording(service.object(file["object"].string ?? ""))
          #expect(try recording.decodingErrors() == "")
          #expect(recording.video?.times.count ?? 0 > 30)
        }
        try await service.waitUntilReady()
        #expect(try await service.end(SIGTERM) == .exit(0))
        await service.forgetProcesses()
      }
    }
  }
}
