import Media
import Recorder
import Testing

@Suite("The session of recordings")
struct RecordingSessionTests {
  /// A recorder whose session read the wall clock at the beginning of every script.
  private func recorder(in folder: TestFolder) throws -> RoomRecorder {
    var configuration = RoomRecorder.Configuration(folder: folder.path, room: "100")
    configuration.usesSystemClock = false
    configuration.session = RecordingSession(
      clock: WallClock(moment: Script.beginning, secondsSince1970: TestFolder.wallClock))
    return try RoomRecorder(configuration)
  }

  @Test("the wall clock is read once: recordings that begin later are aligned with the first, whatever it reads then")
  func anchor() async throws {
    let folder = TestFolder()
    let recorder = try recorder(in: folder)
    var scripts: [Script] = []
    for (name, delay) in [("anna", 0.0), ("ben", 5.0)] as [(String, Double)] {
      var script = Script(name)
      script.add(try TestMedia.tone(1), codec: .opus, begin: delay)
      scripts.append(script)
      recorder.begin(script.owner, now: (Script.beginning + .seconds(delay)).instant)
    }
    let last = await folder.play(scripts, to: recorder)
    for script in scripts { recorder.end(script.owner, reason: .left, now: last) }
    _ = await recorder.finish(now: last)
    let manifests = try ["anna", "ben"].map { try RecordingManifest(parsing: folder.bytes("\($0).json")) }
    #expect(manifests[0].start == "2026-03-01T09:30:00.260Z")
    #expect(manifests[1].start == "2026-03-01T09:30:05.260Z")
    let sessions = try manifests.map { try #require($0.session) }
    #expect(sessions[0].id == sessions[1].id && sessions[0].id == recorder.session.id)
    #expect(sessions.map(\.offset) == [0.01, 5.01])
  }

  @Test("an id has 32 hexadecimal digits, and each session has another")
  func ids() {
    let ids = (0..<100).map { _ in RecordingSession().id }
    #expect(Set(ids).count == 100)
    #expect(ids.allSatisfy { $0.utf8.count == 32 && $0.allSatisfy(\.isHexDigit) })
  }

  @Test("recorders of a group have one session")
  func group() throws {
    let folder = TestFolder()
    let group = try RecorderGroup(.init(folder: folder.path, room: "100"), threads: 2)
    #expect(group.recorders.map(\.session) == [group.session, group.session])
  }
}
