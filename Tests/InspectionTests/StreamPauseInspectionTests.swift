import CallCheck
import Inspection
import InspectionTestSupport
import Media
import Recorder
import Testing

/// Recordings of a user who shares a screen from 2 s to 5 s and, as the same stream, from 8 s to 11 s.
@Suite struct StreamPauseInspectionTests {
  private func screen(_ event: MediaEvent, later seconds: Double) -> MediaEvent {
    func later(_ time: MediaTime) -> MediaTime {
      MediaTime(ticks: time.ticks + Int64(seconds * Double(time.rate)), rate: time.rate)
    }
    switch event {
    case .frame(var frame):
      frame.stream = 2
      frame.time = later(frame.time)
      frame.arrival += .seconds(seconds)
      return .frame(frame)
    case .clock(var report):
      report.stream = 2
      report.time = later(report.time)
      report.ntp += UInt64(seconds) << 32
      report.arrival += .seconds(seconds)
      return .clock(report)
    case .recovering, .statistics, .described: return event
    }
  }

  @Test func theTimeInWhichAStreamWasNotThereIsNotJudged() async throws {
    let folder = try RecordedFolder()
    var configuration = RoomRecorder.Configuration(folder: folder.path, room: "100")
    configuration.verifies = false
    configuration.usesSystemClock = false
    let recorder = try RoomRecorder(configuration)
    let id = ParticipantID("anna")
    recorder.begin(id, now: SyntheticPeer.beginning, wallClock: RecordedFolder.wallClock)
    var all = try SyntheticPeer(seconds: 12).arrivals()
    for begin in [2.0, 8.0] {
      all += try SyntheticPeer(seconds: 3).arrivals().map { ($0.at + begin, screen($0.event, later: begin)) }
      all.append((begin - 0.1, .described(MediaStream(owner: id, number: 2, tracks: [.video: "2", .audio: "3"]))))
      all.append((begin + 3, .described(MediaStream(owner: id, number: 2))))
    }
    for (at, event) in all.sorted(by: { $0.at < $1.at }) {
      recorder.receive(event, of: id, now: SyntheticPeer.instant(at))
      await recorder.advance(now: MonotonicInstant(SyntheticPeer.instant(at)))
    }
    await recorder.finish(now: SyntheticPeer.instant(12.1))

    let report = try folder.inspect(nil, "2.video.freeze <= 500ms", "2.video.fps >= 28").report
    #expect(report.failedRules == [])
    let stream = try #require(report.peer("anna")?.streams?.first)
    let video = try #require(stream.video)
    #expect(video.frames == 180 && video.freezes.count == 0)
    #expect(abs(video.fps - 30) < 1 && abs(video.duration - 6) < 0.2)
    let audio = try #require(stream.audio)
    #expect(audio.silence.longest < 0.2 && audio.gaps.count == 0 && abs(audio.duration - 6) < 0.2)
    #expect(report.peer("anna")?.video?.freezes.count == 0)
  }
}
