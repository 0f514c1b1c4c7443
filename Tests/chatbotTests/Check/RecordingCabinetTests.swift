import Foundation
import Testing

@testable import chatbot

@Suite("recordings of a check")
struct RecordingCabinetTests {
  @Test("are linked to from where the page lies")
  func paths() {
    #expect(RecordingCabinet.path(of: "/a/b/out/x.webm", from: "/a/b/report.html") == "out/x.webm")
    #expect(RecordingCabinet.path(of: "/a/out/x.webm", from: "/a/b/report.html") == "../out/x.webm")
    #expect(RecordingCabinet.path(of: "/a/b/../out/x.webm", from: "/a/b/report.html") == "../out/x.webm")
  }

  @Test("that are made only for the page are removed")
  func scratch() throws {
    let cabinet = try RecordingCabinet(kept: nil, isWanted: true)
    let folder = try #require(cabinet.folder)
    #expect(FileManager.default.fileExists(atPath: folder))
    cabinet.clear()
    #expect(!FileManager.default.fileExists(atPath: folder))
    #expect(try RecordingCabinet(kept: nil, isWanted: false).folder == nil)
  }

  @Test("that were asked for stay")
  func kept() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kept-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let cabinet = try RecordingCabinet(kept: folder.path, isWanted: true)
    #expect(cabinet.folder == folder.path)
    cabinet.clear()
    #expect(FileManager.default.fileExists(atPath: folder.path))
  }
}
