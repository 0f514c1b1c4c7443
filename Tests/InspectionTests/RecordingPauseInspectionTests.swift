import CallCheck
import Inspection
import InspectionTestSupport
import Media
import Recorder
import Testing

/// Recordings that were paused.
@Suite struct RecordingPauseInspectionTests {
  /// Records a user of 30 frames a second for 12 s.
  ///
  /// - Parameter pauses: the intervals in which the recording is paused, in seconds.
  private func record(in folder: RecordedFolder, pauses: [Range<Double>]) async throws {
    var configuration = RoomRecorder.Configuration(folder: folder.path, room: "100")
    configuration.verifies = false
    configuration.usesSystemClock = false
    let recorder = try RoomRecorder(configuration)
    let id = ParticipantID("anna")
    recorder.begin(id, now: SyntheticPeer.beginning, wallClock: RecordedFolder.wallClock)
    var changes = pauses.flatMap { [(at: $0.lowerBound, isPause: true), (at: $0.upperBound, isPause: false)] }
    for (at, event) in try SyntheticPeer(seconds: 12).arrivals().sorted(by: { $0.at < $1.at }) {
      while let change = changes.first, change.at <= at {
        changes.removeFirst()
        let moment = SyntheticPeer.instant(change.at)
        _ = change.isPause ? recorder.pause(at: moment) : recorder.resume(at: moment)
      }
      recorder.receive(event, of: id, now: SyntheticPeer.instant(at))
      await recorder.advance(now: MonotonicInstant(SyntheticPeer.instant(at)))
    }
    await recorder.finish(now: SyntheticPeer.instant(12.1))
  }

  @Test func aPauseIsNeitherAFreezeNorSilence() async throws {
    let folder = try RecordedFolder()
    try await record(in: folder, pauses: [3.005..<5.505, 7.005..<7.605])
    let report = try folder.inspect(nil, "video.freeze <= 300ms", "audio.silence <= 200ms", "video.fps >= 28").report
    #expect(report.failedRules == [])
    let peer = try #require(report.peer("anna"))
    let video = try #require(peer.video)
    #expect(video.freezes.count == 0 && video.frozen.count == 0 && abs(video.fps - 30) < 1)
    // Some time passes until the keyframe after a pause.
    #expect(video.duration > 7 && video.duration < 9.1)
    let audio = try #require(peer.audio)
    #expect(audio.silence.longest < 0.2 && audio.gaps.count == 0 && abs(audio.duration - 8.9) < 0.2)
  }

  @Test func aGapThatTheManifestDoesNotCallAPauseIsAFreezeAndSilence() async throws {
    let folder = try RecordedFolder()
    try await record(in: folder, pauses: [3.005..<5.505])
    try folder.edit("anna.json") { $0.replacing("\"paused\"", with: "\"senderPaused\"") }
    let report = try folder.inspect(nil, "video.freeze <= 300ms", "audio.silence <= 200ms").report
    #expect(report.failedRules.count == 2)
  }

  @Test func aRecordingThatEndsPausedEndsThere() async throws {
    let folder = try RecordedFolder()
    try await record(in: folder, pauses: [4.005..<100])
    let report = try folder.inspect(nil, "video.freeze <= 300ms", "audio.silence <= 200ms").report
    #expect(report.failedRules == [])
    #expect(abs((report.peer("anna")?.video?.duration ?? 0) - 4) < 0.1)
  }
}
