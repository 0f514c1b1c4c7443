import Foundation
import Media
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Processes that are killed, of jobs and of the service. The pattern says which frame is in which file.
  @Suite("a service whose processes are killed") struct ServiceKillTests {
    private static let size = VideoSize(width: 160, height: 120)

    /// The signals that the processes of each job get, one for each attempt. A job has at most two, since the waits between
    /// attempts become longer.
    private static let signals: [[Int32]] =
      ServiceTestForm.isWhole
      ? [
        [SIGSTOP, SIGKILL], [SIGSTOP, SIGSEGV], [SIGSTOP, SIGKILL], [SIGSTOP, SIGSEGV], [SIGKILL, SIGSEGV],
        [SIGSEGV, SIGKILL], [SIGKILL, SIGKILL], [SIGSEGV, SIGSEGV], [SIGKILL, SIGSTOP], [SIGSEGV, SIGSTOP],
      ] : [[SIGSTOP, SIGKILL], [SIGSEGV]]

    /// What two processors carry beside the decoding of what was recorded.
    private static let roomsAtOnce = 4

    @Test(
      "the process of a job that is killed, crashes or hangs is followed by another one, and every frame is accounted for"
    )
    func jobs() async throws {
      try await Scenario.run("80 killed jobs", limit: .seconds(ServiceTestForm.count(short: 150, whole: 400))) {
        scenario in
        let server = try await scenario.server()
        let service = try await RunningService.start(scenario, servers: ["main": server])
        var jobs: [String] = []
        let numbers = Array(Self.signals.indices)
        for start in stride(from: 0, to: numbers.count, by: Self.roomsAtOnce) {
          jobs += try await concurrently(Array(numbers[start...].prefix(Self.roomsAtOnce))) { number in
            try await Self.record(Self.signals[number], in: "killed-\(number + 1)", server, service, scenario)
          }
        }
        for (job, signals) in zip(jobs, Self.signals) { try await Self.judge(job, signals, service, scenario) }
        #expect(try await service.end(SIGTERM) == .exit(0))
        await service.forgetProcesses()
      }
    }

    /// Records a room whose job processes get these signals.
    ///
    /// - Returns: the job, which has ended.
    private static func record(
      _ signals: [Int32], in room: String, _ server: Server, _ service: RunningService, _ scenario: Scenario
    ) async throws -> String {
      _ = try await scenario.publishers(2, in: room, of: server)
      let job = try await service.submit(#"{"kind": "record", "room": "\#(room)"}"#)
      try await service.wait(job, for: "running")
      for (index, signal) in signals.enumerated() {
        // Audio and video of two seconds, so that there are files.
        try await service.receives(job, users: 2, frames: 130)
        try await sleepOnEventLoop(for: .milliseconds(Int.random(in: 500...3_000)))
        let process = try await service.process(of: job)
        let killed = Date().timeIntervalSince1970
        #expect(kill(process, signal) == 0)
        try await service.wait(job, for: "running", attempt: index + 2, within: .seconds(40))
        let joined = try #require(try await service.joinedTime(of: job))
        let stall = await scenario.stall / 1_000
        let limit = signal == SIGSTOP ? 25.0 : 5
        await scenario.note("measured: \(room): joined \(joined - killed) s after signal \(signal)")
        #expect(
          joined - killed < limit + stall,
          .onQuietMachine("\(room): the next attempt joins soon after signal \(signal)"))
      }
      try await service.receives(job, users: 2, frames: 130)
      try await service.stop(job)
      try await service.wait(job, for: "finished", within: .seconds(60))
      return job
    }

    private static func judge(
      _ job: String, _ signals: [Int32], _ service: RunningService, _ scenario: Scenario
    ) async throws {
      let stall = await scenario.stall / 1_000
      let recording = try StoredRecording(of: job, in: service)
      try recording.expectWhole()
      try recording.expectDecodable()
      #expect(recording.document["attempts"].list.count == signals.count + 1)
      #expect(recording.users.count == 2)
      for user in recording.users {
        #expect(user["files"].list.allSatisfy { $0["complete"] == true }, "old files are repaired")
        for kind in ["video", "audio"] {
          let gaps = recording.gaps(of: user, kind, "processLost")
          #expect(gaps.count == signals.count, "\(job), \(kind): \(gaps)")
          for (gap, signal) in zip(gaps, signals) {
            let limit = signal == SIGSTOP ? 27.0 : 6
            #expect(gap.duration < limit + stall, .onQuietMachine("\(job): the gap of \(kind) is short"))
          }
        }
        let (frames, holes) = try recording.expectEveryFrame(
          of: user, size: size, tolerance: 0.4 + stall, scratch: scenario.folder)
        #expect(holes >= signals.count, "\(job): the files are of several attempts")
        await scenario.note("measured: \(job): \(frames) frames, \(holes) holes, all of them named")
      }
      let events = try await service.allEvents(job)
      #expect(events.map { $0["sequence"].int } == events.indices.map { $0 + 1 })
      let types = events.compactMap { $0["type"].string }
      #expect(types.count { $0 == "job.restarted" } == signals.count)
      #expect(types.count { $0 == "job.finished" } == 1)
    }

    @Test("a service that is killed, or replaced by another build after SIGUSR2, loses no frame and no event")
    func service() async throws {
      try await Scenario.run("81 replaced service", limit: .seconds(ServiceTestForm.count(short: 120, whole: 240))) {
        scenario in
        let server = try await scenario.server()
        let service = try await RunningService.start(scenario, servers: ["main": server])
        let other = try Self.otherBuild(in: scenario.folder)
        _ = try await scenario.publishers(2, in: "100", of: server)
        let job = try await service.submit(#"{"kind": "record", "room": "100", "record": {"segment": "4s"}}"#)
        try await service.wait(job, for: "running")
        try await service.receives(job, users: 2)
        let process = try await service.process(of: job)
        let rounds = ServiceTestForm.count(short: 1, whole: 5)
        for round in 1...rounds {
          for (signal, ending) in [(SIGKILL, ChildProcess.EndReason.signal(SIGKILL)), (SIGUSR2, .exit(0))] {
            let asked = ContinuousClock.now
            #expect(try await service.end(signal, within: .seconds(5)) == ending)
            let took = (ContinuousClock.now - asked) / .seconds(1)
            let stall = await scenario.stall / 1_000
            #expect(took < 5 + stall, .onQuietMachine("the service ends within 5 s"))
            // Somebody joins while no service runs.
            _ = try await scenario.bot(
              in: "100", of: server, ["--play", "pattern", "--size", "160x120", "--fps", "15"],
              name: "user \(round) \(signal)")
            try await sleepOnEventLoop(for: .milliseconds(Int.random(in: 500...3_000)))
            try await service.startAgain(from: signal == SIGUSR2 ? other : nil)
            let running = try await service.job(job)
            #expect(running["state"].string == "running")
            #expect(running["attempt"].int == 1)
            #expect(try await service.process(of: job) == process)
            try await sleepOnEventLoop(for: .milliseconds(Int.random(in: 500...3_000)))
          }
        }
        let users = 2 + 2 * rounds
        try await service.receives(job, users: users)
        try await service.stop(job)
        try await service.wait(job, for: "finished", within: .seconds(60))
        let recording = try StoredRecording(of: job, in: service)
        try recording.expectWhole()
        #expect(recording.document["attempts"].list.count == 1)
        #expect(recording.users.count == users)
        #expect(recording.users.allSatisfy { $0["gaps"].list.isEmpty })
        for user in recording.users {
          let (frames, holes) = try recording.expectEveryFrame(
            of: user, size: Self.size, tolerance: 0.4, scratch: scenario.folder)
          #expect(holes == 0, .onQuietMachine("no frame number of \(frames) is missing"))
        }
        let events = try await service.allEvents(job)
        #expect(events.map { $0["sequence"].int } == events.indices.map { $0 + 1 })
        let types = events.compactMap { $0["type"].string }
        for (type, count) in [
          ("job.started", 1), ("job.restarted", 0), ("job.finished", 1), ("recording.finished", 1),
          ("participant.joined", users),
        ] {
          #expect(types.count { $0 == type } == count, "\(type)")
        }
        let files = events.filter { $0["type"] == "recording.file" }.compactMap { $0["data"]["object"].string }
        let recorded = recording.objects.filter { $0["kind"] != "log" }.compactMap { $0["object"].string }
        #expect(files.sorted() == recorded.sorted())
        #expect(try await service.end(SIGTERM) == .exit(0))
        await service.forgetProcesses()
      }
    }

    /// Makes a folder with the programs as other files, as those of another build are.
    private static func otherBuild(in folder: URL) throws -> URL {
      let other = folder.appendingPathComponent("other build")
      try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
      for name in try FileManager.default.contentsOfDirectory(atPath: BuiltProgram.folder.path) {
        let (from, to) = (BuiltProgram.folder.appendingPathComponent(name), other.appendingPathComponent(name))
        if ["chatbot", "chatbot-service"].contains(name) {
          try FileManager.default.copyItem(at: from, to: to)
        } else if name == "chatbot-media" || name.hasSuffix(".resources") || name.hasSuffix(".bundle") {
          try FileManager.default.createSymbolicLink(at: to, withDestinationURL: from)
        }
      }
      return other
    }
  }
}
