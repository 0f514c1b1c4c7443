import Foundation
import Media
import NIOCore
import Recorder
import TestSupport
import Testing

@Suite("Repair of a renamed recording")
struct RenamedManifestTests {
  private func unfinished(after seconds: Double = 4, segment: SegmentLimit? = nil) async throws -> TestFolder {
    let folder = TestFolder()
    try folder.store(try await Unfinished.files(after: seconds, segment: segment))
    return folder
  }

  private func rename(_ name: String, _ other: String, in folder: TestFolder) throws {
    try FileManager.default.moveItem(atPath: "\(folder.path)/\(name)", toPath: "\(folder.path)/\(other)")
  }

  private func manifest(_ name: String, in folder: TestFolder) throws -> RecordingManifest {
    try RecordingManifest(parsing: folder.bytes(name))
  }

  @Test("the files of a renamed manifest are repaired by their listed names, which stay listed")
  func renamed() async throws {
    let folder = try await unfinished()
    try rename("anna.json", "Alice.json", in: folder)
    let before = try manifest("Alice.json", in: folder)
    let reports = RoomRecorder.repair("\(folder.path)/Alice.json")
    #expect(
      reports.map(\.path) == (before.files.map(\.name) + ["Alice.json"]).map { "\(folder.path)/\($0)" })
    #expect(reports.map(\.isComplete) == [true, true, true])
    let after = try manifest("Alice.json", in: folder)
    #expect(after.finished && after.repaired == true)
    #expect(
      after.files.map(\.name) == before.files.map(\.name) && after.files.map(\.start) == before.files.map(\.start))
    #expect(after.files.allSatisfy { $0.complete && $0.duration > 3 })
    #expect(RoomRecorder.repair("\(folder.path)/anna.webm").map(\.outcome) == [.intact])
  }

  @Test("a segment that began after the manifest was written is found by the name of the other segments")
  func renamedSegments() async throws {
    let folder = try await unfinished(after: 7, segment: SegmentLimit(duration: .seconds(3)))
    var manifest = try manifest("anna.json", in: folder)
    let all = folder.names.filter { !$0.hasSuffix("json") }
    manifest.files.removeAll { $0.name.contains("0003") }
    try FileManager.default.removeItem(atPath: "\(folder.path)/anna.json")
    try folder.store(["Alice.json": Array(try manifest.json.readableBytesView)])
    let reports = RoomRecorder.repair("\(folder.path)/Alice.json")
    #expect(reports.count == all.count + 1 && reports.allSatisfy(\.isComplete))
    let after = try self.manifest("Alice.json", in: folder)
    #expect(after.files.map(\.name).sorted() == all && Set(after.files.map(\.segment)) == [1, 2, 3])
  }

  @Test("a renamed manifest that lists no files is rejected with a sentence, and is not changed")
  func nothingListed() async throws {
    let folder = try await unfinished()
    var manifest = try manifest("anna.json", in: folder)
    manifest.files = []
    let bytes = Array(try manifest.json.readableBytesView)
    try FileManager.default.removeItem(atPath: "\(folder.path)/anna.json")
    try folder.store(["Alice.json": bytes])
    let reports = RoomRecorder.repair("\(folder.path)/Alice.json")
    #expect(
      reports.map(\.description) == [
        "“\(folder.path)/Alice.json” lists no files and was renamed, so its files are unknown. "
          + "It was not changed."
      ])
    let isSame = try folder.bytes("Alice.json") == bytes
    #expect(isSame)
    // With its own name it finds them.
    try rename("Alice.json", "anna.json", in: folder)
    #expect(RoomRecorder.repair("\(folder.path)/anna.json").map(\.isComplete) == [true, true, true])
  }

  @Test("a listed name outside the folder is rejected with a sentence, and its entry stays unchanged")
  func elsewhere() async throws {
    let folder = try await unfinished()
    var manifest = try manifest("anna.json", in: folder)
    manifest.files[1].name = "../other/anna.ogg"
    manifest.files[1].start = 1.25
    try FileManager.default.removeItem(atPath: "\(folder.path)/anna.ogg")
    try folder.store(["anna.json": Array(try manifest.json.readableBytesView)])
    let reports = RoomRecorder.repair("\(folder.path)/anna.json")
    #expect(reports.map(\.isComplete) == [true, false])
    #expect(
      reports.last?.description
        == "“../other/anna.ogg” is listed by “\(folder.path)/anna.json”, but is not the name of a recording in the same folder. "
        + "It was not changed.")
    let after = try self.manifest("anna.json", in: folder)
    #expect(!after.finished && after.repaired == nil)
    #expect(after.files[1] == manifest.files[1] && after.files[0].complete)
  }

  @Test("a closed WebM or Ogg with data after its end is not changed, and a sentence says why")
  func behindTheEnd() async throws {
    let folder = TestFolder()
    _ = try await folder.record(try SmallCall.script(2))
    for name in ["anna.webm", "anna.ogg"] {
      let whole = try folder.bytes(name)
      let additions = name.hasSuffix("ogg") ? [whole] : [whole, [0], Array("Hello, this is text.".utf8)]
      for more in additions {
        try folder.store([name: whole + more])
        #expect(
          RoomRecorder.repair("\(folder.path)/\(name)").map(\.description) == [
            "“\(folder.path)/\(name)” contains data after the end of its recording. It was not changed."
          ])
        let isSame = try folder.bytes(name) == whole + more
        #expect(isSame)
      }
    }
  }
}
