import Foundation
import Media
import NIOCore
import Recorder
import TestSupport
import Testing

@Suite("Repair of several streams of a participant")
struct SeveralStreamsRepairTests {
  /// A camera with its microphone, and a screen that is shared from the first second on.
  private func script(_ seconds: Double, owner: String = "anna") throws -> Script {
    var script = try SmallCall.script(seconds, owner: owner)
    script.add(
      try TestMedia.videoFrames(seconds - 1, size: VideoSize(width: 96, height: 64), keyframeEvery: 30), codec: .vp8,
      stream: 2, begin: 1)
    script.add(try TestMedia.tone(seconds - 1), codec: .opus, stream: 2, begin: 1)
    script.addReports(.opus, stream: 2, at: [1.5], begin: 1)
    script.addReports(.vp8, stream: 2, at: [1.6], begin: 1)
    script.add(.described(MediaStream(owner: script.owner, number: 2, id: "screen", tracks: [.video: "2"])), at: 0.9)
    return script
  }

  private func manifest(_ base: String, in folder: TestFolder) throws -> RecordingManifest {
    try RecordingManifest(parsing: folder.bytes("\(base).json"))
  }

  private func expectRepaired(_ base: String, stream: Int, in folder: TestFolder) throws {
    let manifest = try manifest(base, in: folder)
    #expect(manifest.finished && manifest.repaired == true && manifest.files.allSatisfy(\.complete))
    #expect(manifest.stream.number == stream && manifest.user == "anna" && manifest.version == 2)
    for file in manifest.files {
      #expect(file.name.hasPrefix("\(base)."))
      #expect(file.name.dropFirst(base.count + 1).wholeMatch(of: /(\d{4,}\.)?(webm|ogg)/) != nil, "\(file.name)")
    }
    for file in manifest.files {
      #expect(try Reader(path: "\(folder.path)/\(file.name)").complaints("-enc_time_base", "-1") == "")
    }
  }

  @Test("each recording of a killed program is completed with its own files", arguments: [nil, 2.0])
  func killed(segment: Double?) async throws {
    let folder = TestFolder()
    let limit = segment.map { SegmentLimit(duration: .seconds($0)) }
    try folder.store(try await Unfinished.files(of: try script(6), after: 6, segment: limit))
    #expect(RoomRecorder.unfinished(in: folder.path) == ["anna.2.json", "anna.json"])
    let media = folder.names.filter { !$0.hasSuffix("json") }
    let frames = try media.map { BlockReader(try folder.bytes($0)).payloads(.vp8) }
    let reports = RoomRecorder.repair(folder.path)
    #expect(reports.count == media.count + 2 && reports.allSatisfy(\.isComplete), "\(reports)")
    let isSame = try frames == media.map { BlockReader(try folder.bytes($0)).payloads(.vp8) }
    #expect(isSame)
    try expectRepaired("anna", stream: 1, in: folder)
    try expectRepaired("anna.2", stream: 2, in: folder)
    let listed = try ["anna", "anna.2"].flatMap { try manifest($0, in: folder).files.map(\.name) }
    #expect(listed.sorted() == media && folder.names.count == media.count + 2)
    let screen = try manifest("anna.2", in: folder)
    #expect(screen.stream.id == "screen" && screen.tracks.last?.id == "2")
    #expect(abs((screen.session?.offset ?? 0) - (try manifest("anna", in: folder).session?.offset ?? 0) - 1) < 0.003)
  }

  @Test(
    "the manifest of a media file is found by its name, and files that it does not list yet are those of its stream")
  func beside() async throws {
    let folder = TestFolder()
    try folder.store(try await Unfinished.files(of: try script(4), after: 4))
    var screen = try manifest("anna.2", in: folder)
    screen.files = []
    try folder.store(["anna.2.json": Array(try screen.json.readableBytesView)])
    let reports = RoomRecorder.repair("\(folder.path)/anna.2.webm")
    #expect(reports.map(\.path) == ["\(folder.path)/anna.2.webm"] && reports.allSatisfy(\.isComplete))
    let others = RoomRecorder.repair("\(folder.path)/anna.2.ogg")
    #expect(others.map(\.path) == ["anna.2.ogg", "anna.2.json"].map { "\(folder.path)/\($0)" })
    #expect(try manifest("anna.2", in: folder).files.map(\.name).sorted() == ["anna.2.ogg", "anna.2.webm"])
    #expect(try !manifest("anna", in: folder).finished)
    #expect(RoomRecorder.repair("\(folder.path)/anna.json").map(\.isComplete) == [true, true, true])
    try expectRepaired("anna", stream: 1, in: folder)
  }

  @Test(
    "a user whose id looks like the name of a stream or a segment has their own files",
    arguments: ["anna.2", "anna.0002"])
  func lookalike(id: String) async throws {
    let (disk, folder) = (ScriptedDisk(), TestFolder())
    let scripts = [try SmallCall.script(3, owner: id), try script(3)]
    let recorder = try folder.recorder(disk: disk)
    for script in scripts { recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock) }
    let last = await folder.play(scripts, to: recorder)
    try folder.store(disk.files.filter { !$0.key.hasPrefix(".") })
    await recorder.finish(now: last)
    let bases = id == "anna.2" ? ["anna", "anna.2", "anna.2-2"] : ["anna", "anna.0002", "anna.2"]
    let all = bases.flatMap { base in ["json", "ogg", "webm"].map { "\(base).\($0)" } }
    #expect(folder.names == all.sorted())
    let reports = RoomRecorder.repair(folder.path)
    #expect(reports.count == 9 && reports.allSatisfy(\.isComplete))
    for base in bases {
      let manifest = try manifest(base, in: folder)
      #expect(manifest.finished && manifest.user == (base == id ? id : "anna"))
      #expect(manifest.files.map(\.name) == ["\(base).webm", "\(base).ogg"])
      #expect(manifest.stream.number == (base == id || base == "anna" ? 1 : 2))
    }
  }
}
