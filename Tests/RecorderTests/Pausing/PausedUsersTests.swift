import Media
import Recorder
import TestSupport
import Testing

@Suite("Users whose recording is paused")
struct PausedUsersTests {
  private func begin(_ id: String, name: String? = nil, in recorder: RoomRecorder, at time: Double = 0) {
    recorder.begin(
      ParticipantID(id), name: name, now: Script.beginning + .seconds(time), wallClock: TestFolder.wallClock + time)
  }

  private func isPaused(_ id: String, in recorder: RoomRecorder) -> Bool { recorder.isPaused(ParticipantID(id)) }

  @Test("a user who comes while everybody is paused is paused, and one who comes after that is not")
  func everybody() throws {
    let recorder = try TestFolder().recorder()
    begin("1", in: recorder)
    #expect(!isPaused("1", in: recorder))
    recorder.pause()
    begin("2", in: recorder)
    #expect(recorder.pausedParticipants == ["1", "2"] && recorder.paused.all)
    recorder.resume(["2"])
    #expect(recorder.pausedParticipants == ["1"] && recorder.paused == PausedUsers(all: true, resumed: ["2"]))
    begin("3", in: recorder)
    #expect(isPaused("3", in: recorder))
    recorder.resume()
    begin("4", in: recorder)
    #expect(recorder.pausedParticipants == [] && recorder.paused == .nobody)
  }

  @Test("a paused user who comes back is paused, under the same id or with the same name")
  func comesBack() throws {
    let recorder = try TestFolder().recorder()
    begin("1", name: "Ann", in: recorder)
    begin("2", name: "Ann", in: recorder)
    recorder.pause(["1"])
    // Another one of that name who is there is somebody else.
    #expect(recorder.pausedParticipants == ["1"])
    for id in ["1", "2"] { recorder.end(ParticipantID(id), reason: .left, now: Script.beginning + .seconds(1)) }
    #expect(recorder.pausedParticipants == [])
    begin("1", name: "Ann", in: recorder)
    begin("3", name: "Ann", in: recorder)
    begin("4", name: "Bob", in: recorder)
    #expect(recorder.pausedParticipants == ["1", "3"])
    recorder.resume(["1"])
    // The other one has not consented.
    #expect(recorder.pausedParticipants == ["3"])
    recorder.end(ParticipantID("3"), reason: .left, now: Script.beginning + .seconds(2))
    begin("5", name: "Ann", in: recorder)
    #expect(recorder.pausedParticipants == ["5"])
  }

  @Test("a user paused by id before they came, as after a crash, is paused when they come back under another id")
  func comesBackAfterACrash() throws {
    var configuration = RoomRecorder.Configuration(folder: TestFolder().path, room: "100")
    configuration.paused = PausedUsers(users: ["1"])
    let group = try RecorderGroup(configuration)
    group.begin(ParticipantID("1"), name: "Ann")
    group.end(ParticipantID("1"), reason: .left)
    group.begin(ParticipantID("2"), name: "Ann")
    #expect(group.pausedParticipants == ["2"])
    // Who takes many names pauses nobody else.
    group.begin(ParticipantID("1"), name: "Bob")
    #expect(group.paused.users == ["1", "Ann"])
  }

  @Test("users are named by id, or by name where nobody has the id, also before they come")
  func names() throws {
    let recorder = try TestFolder().recorder()
    begin("1", name: "2", in: recorder)
    begin("2", name: "Bob", in: recorder)
    recorder.pause(["2"])
    #expect(recorder.pausedParticipants == ["2"])
    recorder.pause(["Eve"])
    begin("3", name: "Eve", in: recorder)
    begin("Eve", in: recorder)
    #expect(recorder.pausedParticipants == ["2", "3", "Eve"])
    recorder.resume(["Bob"])
    #expect(recorder.pausedParticipants == ["3", "Eve"])
  }

  @Test("a user who was resumed by id is resumed only under that id, since others may take the name")
  func consent() throws {
    var configuration = RoomRecorder.Configuration(folder: TestFolder().path, room: "100")
    configuration.paused = .everybody
    let group = try RecorderGroup(configuration, threads: 3)
    for number in 1...4 { group.begin(ParticipantID("\(number)"), name: "Ann") }
    #expect(group.pausedParticipants.count == 4)
    let change = group.resume(["3"])
    #expect(change.participants == ["3"] && change.paused == PausedUsers(all: true, resumed: ["3"]))
    #expect(abs(change.secondsSince1970 - group.session.secondsSince1970(at: .now)) < 5)
    group.begin("5", name: "Ann")
    #expect(group.pausedParticipants == ["1", "2", "4", "5"])
    #expect(group.pause(["3"]).participants == ["3"] && group.resume(["3"]).participants == ["3"])
    #expect(group.resume(["3"]).participants == [])
  }

  @Test("too many users to list pause everybody")
  func bounded() throws {
    let recorder = try TestFolder().recorder()
    begin("a", in: recorder)
    recorder.pause(Set((0..<10_000).map(String.init)))
    #expect(!recorder.paused.all && !isPaused("a", in: recorder))
    recorder.pause(["10000"])
    #expect(recorder.paused == .everybody && isPaused("a", in: recorder))
  }

  @Test("each user is paused alone, and one who joins in a pause begins with a keyframe after it")
  func severalUsers() async throws {
    let folder = TestFolder()
    let recorder = try folder.recorder()
    let anna = try SmallCall.script(9)
    var bob = Script("bob")
    bob.add(try TestMedia.tone(6), codec: .opus, begin: 3)
    bob.add(try SmallCall.frames(6), codec: .vp8, begin: 3)
    begin("anna", in: recorder)
    await folder.play([anna], to: recorder, until: 2.005)
    recorder.pause(at: Script.beginning + .seconds(2.005))
    await folder.play([anna], to: recorder, from: 2.005, until: 2.9)
    begin("bob", in: recorder, at: 2.9)
    await folder.play([anna, bob], to: recorder, from: 2.9, until: 4.005)
    recorder.resume(["bob"], at: Script.beginning + .seconds(4.005))
    await folder.play([anna, bob], to: recorder, from: 4.005, until: 6.005)
    recorder.resume(at: Script.beginning + .seconds(6.005))
    let last = await folder.play([anna, bob], to: recorder, from: 6.005)
    let summaries = await recorder.finish(now: last)
    #expect(summaries.map(\.base) == ["anna", "bob"])
    let gaps = summaries.map { $0.manifest.tracks.map { $0.gaps.map(\.reason) } }
    #expect(gaps == [[["paused"], ["paused"]], [[], []]])
    #expect(BlockReader(try folder.bytes("anna.webm")).payloads(.vp8).count == 60 + 90)
    #expect(BlockReader(try folder.bytes("bob.webm")).payloads(.vp8).count == 150)
    #expect(abs((summaries[1].manifest.session?.offset ?? 0) - 4.01) < 0.02)
  }
}
