import Call
import Foundation
import Recorder
import Testing

@Suite("the file of a call's summary")
struct SessionFileTests {
  private func summary(_ room: String) -> SessionSummary {
    SessionSummary(
      room: room, start: "2026-03-01T09:30:00.250Z", end: "", duration: 1, endReason: .init(cause: "left", text: ""),
      recording: true)
  }

  @Test("it has a safe name, is never written over another one, and is no manifest of a recording")
  func names() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("session-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let paths = try (0..<3).map { _ in try SessionFile.write(summary("../x"), into: folder) }
    let begin = "\(folder)/_._x-20260301T093000Z"
    #expect(paths == ["", "-2", "-3"].map { "\(begin)\($0).session.json" })
    let long = try SessionFile.write(summary(String(repeating: "房", count: 500)), into: folder)
    #expect(long.utf8.count < folder.utf8.count + 150)
    #expect(RoomRecorder.unfinished(in: folder).isEmpty && RoomRecorder.repair(folder).isEmpty)
    let modes = try FileManager.default.attributesOfItem(atPath: paths[0])[.posixPermissions] as? NSNumber
    #expect(modes?.intValue == 0o600)
  }

  @Test("a folder that cannot be written throws")
  func unwritable() {
    #expect(throws: (any Error).self) { try SessionFile.write(summary("1"), into: "/proc/no") }
  }
}
