import BotPeer
import Call
import Foundation
import JSON
import JobProcess
import JobProtocol
import LiveSource
import Logging
import Media
import Recorder
import Signalling
import SkyRTC
import Testing

extension RealTime {
  @Suite("a job with a server and a user") struct RecordingJobTests {
    private static let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func call(
      _ url: String, _ source: (any FrameSource)? = nil, observer: (any RoomCallObserver)? = nil,
      _ change: (inout RoomCall.Settings) -> Void
    ) async throws -> RoomCall {
      var settings = RoomCall.Settings()
      settings.peer.bindAddresses = ["127.0.0.1"]
      settings.peer.includesLoopback = true
      settings.peer.allowsLocalCandidates = true
      change(&settings)
      let client = try SkyRTCClient(url: url, room: "100", logger: Self.log)
      return try await RoomCall(settings, client: client, source: source, observer: observer, log: Self.log)
    }

    /// Records a room as the program does.
    private func record(_ running: RunningJob, _ folder: String, _ url: String) async throws -> JobResult {
      let call = try await call(url, observer: running.observer()) { settings in
        var recording = RoomRecorder.Configuration(folder: "\(folder)/media", room: "100")
        recording.segment = SegmentLimit(duration: .seconds(1), bytes: nil)
        recording.paused = running.paused
        settings.recording = recording
        settings.leaveWhenEmpty = running.specification.end.emptyFor.map { .milliseconds($0) }
      }
      running.began(call)
      do {
        try await call.join()
      } catch {
        await call.close()
        throw JobFailure(.serverUnreachable, error.description)
      }
      return running.result(of: await call.run())
    }

    @Test("it records, pauses, shows and ends, and its journal has the files with their hashes")
    func record() async throws {
      let server = SkyRTCServer(configuration: .init(host: "127.0.0.1", port: 0), logger: Self.log)
      let url = try await server.start().webSocketURL
      var specification = TestJob.specification(.record, url: url)
      specification.end.emptyFor = 500
      let job = try TestJob(specification)
      let running = Task {
        try await job.run { running in try await self.record(running, job.folder, url) }
      }
      let control = try await ControlClient(to: job)
      let camera = try LiveCamera.open(
        LiveCamera.Options(input: .pattern, owner: ParticipantID("camera")), logger: Self.log)
      let bot = try await call(url, camera) { _ in }
      try await bot.join()
      let playing = Task { await bot.run() }
      var user: UserStatus?
      for _ in 0..<200 {
        try await Task.sleep(for: .milliseconds(100))
        let status = try control.ask(.status).status
        user = status?.users.first
        guard status?.state == "joined", let user, user.lastFrameAt != nil, user.audioLevel != nil else { continue }
        if user.bitrate > 10_000 { break }
      }
      let sender = try #require(user)
      #expect(sender.state == "connected" && sender.counts.frames > 0 && sender.bitrate > 10_000)
      #expect((-90...0).contains(sender.audioLevel ?? 1))
      #expect(abs((sender.lastFrameAt ?? 0) - Int64(Date().timeIntervalSince1970 * 1_000)) < 10_000)
      #expect(!sender.isPaused && !sender.isStalled)

      var snapshot = try control.ask(.snapshot(user: sender.user, stream: nil))
      var png = Data()
      while case .snapshot(let part) = snapshot.result {
        #expect(part.width <= 320 && part.height <= 320)
        png += part.png
        if part.part + 1 == part.parts { break }
        snapshot = try control.answer()
      }
      #expect(png.starts(with: [0x89, 0x50, 0x4E, 0x47]))
      let tooSoon = try control.ask(.snapshot(user: sender.user, stream: nil))
      #expect(tooSoon.errorCode == "tooSoon")
      let request = try ControlRequest(id: 50, .snapshot(user: "nobody", stream: nil)).line
      control.send(String(decoding: request, as: UTF8.self))
      let beside = try control.ask(.status)
      #expect(beside.status != nil, "A request waits for the snapshot before it.")
      let nobody = try control.answer()
      #expect(nobody.errorCode == "notFound" && nobody.id == 50)

      let pause = try control.ask(.pause(users: [sender.user]))
      #expect(pause.errorCode == nil)
      try await Task.sleep(for: .milliseconds(1_500))
      let paused = try control.ask(.status).status
      #expect(paused?.users.first?.isPaused == true && paused?.users.first?.audioLevel == nil)
      let hidden = try control.ask(.snapshot(user: sender.user, stream: nil))
      #expect(hidden.errorCode == "paused")
      let resume = try control.ask(.resume(users: [sender.user]))
      #expect(resume.errorCode == nil)
      try await Task.sleep(for: .milliseconds(1_500))
      let resumed = try control.ask(.status).status
      #expect(resumed?.paused.isPaused == false && resumed?.users.first?.isPaused == false)

      bot.leave(because: "the test is over")
      _ = await playing.value
      #expect(try await running.value.code == 0)
      await server.shutdown()

      let events = try job.events()
      #expect(try job.ended()?.reason == .empty)
      let types = events.map(\.type)
      #expect(types.first == "started" && types.last == "ended")
      for type in ["joined", "participantJoined", "paused", "resumed", "participantLeft"] {
        #expect(types.count { $0 == type } == 1, "\(type)")
      }
      let files = events.compactMap { if case .fileClosed(let file) = $0 { file } else { nil } }
      #expect(Set(files.map(\.kind)) == ["media", "manifest", "summary"])
      let names = try FileManager.default.contentsOfDirectory(atPath: "\(job.folder)/media")
      #expect(Set(names) == Set(files.map(\.name)), "Each file is in the journal, once.")
      #expect(files.count == names.count)
      for file in files {
        #expect(job.read("media/\(file.name)").count == file.bytes)
        guard file.kind == "media" else { continue }
        #expect(file.user == sender.user && file.stream == 1 && (file.segment ?? 0) >= 1 && (file.duration ?? 0) > 0)
        #expect(abs((file.start ?? 0) - Int64(Date().timeIntervalSince1970 * 1_000)) < 120_000)
      }
      #expect(files.count { $0.name.hasSuffix(".webm") } >= 3)
    }

    @Test("a server that is not there ends the job, and a stop ends the wait for it")
    func unreachable() async throws {
      let job = try TestJob(TestJob.specification(.record))
      let result = try await job.run { running in try await self.record(running, job.folder, "ws://127.0.0.1:1") }
      #expect(result.code == 69)
      #expect(try job.ended()?.reason == .serverUnreachable)

      let waiting = try TestJob(TestJob.specification(.record))
      let running = Task {
        try await waiting.run { running in
          let call = try await self.call("ws://127.0.0.1:1", observer: running.observer()) { _ in }
          running.began(call)
          try await call.join(waiting: .seconds(60))
          return running.result(of: await call.run())
        }
      }
      let control = try await ControlClient(to: waiting)
      try await Task.sleep(for: .seconds(1))
      let asked = ContinuousClock.now
      let stop = try control.ask(.stop(reason: nil))
      #expect(stop.result == .stopping)
      #expect(try await running.value.code == 0)
      #expect(ContinuousClock.now - asked < .seconds(15))
      #expect(try waiting.ended()?.reason == .stopped)
    }
  }
}
