import Foundation
import Testing

@testable import chatbot

@Suite("the recordings of a check")
struct RecordingStoreTests {
  @Test("recordings that are made only for the page are removed")
  func scratch() throws {
    let recordingStore = try RecordingStore(kept: nil, isWanted: true)
    let folder = try #require(recordingStore.folder)
    #expect(FileManager.default.fileExists(atPath: folder))
    recordingStore.clear()
    #expect(!FileManager.default.fileExists(atPath: folder))
    #expect(try RecordingStore(kept: nil, isWanted: false).folder == nil)
  }

  @Test("requested recordings are kept")
  func kept() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kept-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let recordingStore = try RecordingStore(kept: folder.path, isWanted: true)
    #expect(recordingStore.folder == folder.path)
    recordingStore.clear()
    #expect(FileManager.default.fileExists(atPath: folder.path))
  }
}
