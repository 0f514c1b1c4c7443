import Foundation
import Recorder
import TestSupport
import Testing

/// Repairs that are killed, or whose disk fails, at every step.
@Suite("Interrupted repairs")
struct RepairCutTests {
  /// Files that were never closed: as the recorder left them, and truncated in their last cluster or page.
  private func damaged(_ name: String) async throws -> [[UInt8]] {
    let bytes = try await Unfinished.file(name)
    return [bytes, Array(bytes.dropLast(700)), Array(bytes.dropLast(1))]
  }

  private func frames(_ bytes: [UInt8]) throws -> [[UInt8]] {
    guard bytes.starts(with: Array("OggS".utf8)) else { return BlockReader(bytes).blocks.map(\.payload) }
    return [[UInt8]](repeating: [], count: try OggCount(bytes).packets)
  }

  @Test(
    "a repair that is killed or fails at any step leaves the file as readable as before, and another completes it",
    arguments: ["anna.webm", "anna.ogg", "anna.mkv", "anna.mka"])
  func everyStep(name: String) async throws {
    let folder = TestFolder()
    var generator = SeededGenerator(seed: 5)
    var left: [String: [UInt8]] = [:]
    var count = 0
    for (number, bytes) in try await damaged(name).enumerated() {
      let whole = MemoryFile(bytes)
      try whole.repair()
      let expected = try frames(whole.bytes)
      for step in 0..<whole.steps {
        for code in [MemoryFile.killed, ENOSPC, EIO] {
          let file = MemoryFile(bytes)
          file.failure = (step, .random(in: 0...600, using: &generator), code)
          #expect(throws: RoomRecorder.StorageError.self) { try file.repair() }
          count += 1
          // All frames are readable.
          let isSame = try frames(file.bytes) == expected || self.isCut(bytes, file.bytes)
          #expect(isSame, "file \(number), step \(step), error \(code)")
          if code == MemoryFile.killed || code == EIO, step == whole.steps - 2 {
            left["\(number)-\(step)-\(code).\(name)"] = file.bytes
          }
          let again = MemoryFile(file.bytes)
          let isComplete = try again.repair()
          let isEqual = again.bytes == whole.bytes
          #expect(isComplete && isEqual, "file \(number), step \(step), error \(code)")
        }
      }
    }
    try folder.store(left)
    for name in folder.names {
      let reader = Reader(path: "\(folder.path)/\(name)")
      let lines = try reader.complaints("-enc_time_base", "-1").split(separator: "\n")
      // Only for what was being written at the end.
      let isAboutTheEnd = lines.allSatisfy { line in
        ["File ended prematurely", "Truncating packet", "repeated"].contains { line.contains($0) }
      }
      #expect(isAboutTheEnd, "\(name): \(lines)")
    }
    print(
      "measured: \(name): a repair interrupted in \(count) ways leaves a file that is as readable as before, each time")
  }

  /// Whether a cluster that was truncated before the repair still is: its complete blocks are there, but `BlockReader`
  /// only reads complete clusters.
  private func isCut(_ before: [UInt8], _ after: [UInt8]) -> Bool {
    after.count <= before.count && (try? frames(before).count) == (try? frames(after).count)
  }

  @Test("a read error is not treated as the end of the file")
  func unreadable() async throws {
    for name in ["anna.webm", "anna.ogg"] {
      let bytes = try #require(try await Unfinished.files()[name])
      let file = MemoryFile(bytes)
      file.readFailure = EIO
      #expect(throws: RoomRecorder.StorageError.self) { try file.repair() }
      let isSame = file.bytes == bytes
      #expect(isSame && file.steps == 0)
    }
  }
}
