import Call
import Foundation
import Testing

@Suite("the recordings of a check")
struct CheckRecordingsTests {
  @Test("recordings that are made only for the page are removed")
  func scratch() throws {
    let recordings = try CheckRecordings(kept: nil, isWanted: true)
    let folder = try #require(recordings.folder)
    #expect(FileManager.default.fileExists(atPath: folder))
    recordings.clear()
    #expect(!FileManager.default.fileExists(atPath: folder))
    #expect(try CheckRecordings(kept: nil, isWanted: false).folder == nil)
  }

  @Test("requested recordings are kept")
  func kept() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kept-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let recordings = try CheckRecordings(kept: folder.path, isWanted: true)
    #expect(recordings.folder == folder.path)
    recordings.clear()
    #expect(FileManager.default.fileExists(atPath: folder.path))
  }
}
