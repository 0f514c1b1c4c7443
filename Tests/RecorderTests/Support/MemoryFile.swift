import Foundation
import Media
import NIOCore
import Recorder
import Testing

/// A file in memory to be repaired, in which any step can fail or be the last one.
final class MemoryFile: RepairTarget {
  /// The program was killed.
  static let killed: Int32 = 0

  private(set) var bytes: [UInt8]
  let size: Int64
  /// The number of reads.
  private(set) var reads = 0
  /// The content that is read: the original file.
  private let content: ByteBuffer
  /// Calls that changed or synced the file.
  private(set) var steps = 0
  /// The step that fails, how many bytes of a write succeed, and the error. With `killed` all later steps fail as well.
  var failure: (step: Int, torn: Int, code: Int32)?
  var readFailure: Int32?

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    content = ByteBuffer(bytes: bytes)
    size = Int64(bytes.count)
  }

  func read(at offset: Int64, count: Int) throws(RoomRecorder.StorageError) -> ByteBuffer {
    if let readFailure { throw RoomRecorder.StorageError("read", "memory", code: readFailure) }
    guard offset >= 0, offset < size else { return ByteBuffer() }
    reads += 1
    return content.getSlice(at: Int(offset), length: min(count, bytes.count - Int(offset))) ?? ByteBuffer()
  }

  func truncate(to size: Int64) throws(RoomRecorder.StorageError) {
    _ = try step()
    bytes = Array(bytes.prefix(Int(size)))
  }

  func write(_ write: FileWrite) throws(RoomRecorder.StorageError) {
    var content = Array(write.bytes.readableBytesView)
    var failed: RoomRecorder.StorageError?
    do { try step() } catch {
      guard let failure, steps == failure.step + 1 else { throw error }
      content = Array(content.prefix(failure.torn))
      failed = error
    }
    let end = Int(write.offset) + content.count
    if !content.isEmpty {
      if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
      bytes.replaceSubrange(Int(write.offset)..<end, with: content)
    }
    if let failed { throw failed }
  }

  func sync() throws(RoomRecorder.StorageError) { try step() }

  private func step() throws(RoomRecorder.StorageError) {
    defer { steps += 1 }
    guard let failure else { return }
    if steps == failure.step || steps > failure.step && failure.code == Self.killed {
      throw RoomRecorder.StorageError("write to", "memory", code: failure.code)
    }
  }

  /// Returns the result of examining the file.
  func examine() throws(RoomRecorder.StorageError) -> RepairAnalysis {
    bytes.starts(with: Array("OggS".utf8)) ? try OggRepair.examine(self) : try MatroskaRepair.examine(self)
  }

  /// Repairs the file.
  ///
  /// - Returns: whether it is complete then.
  @discardableResult
  func repair() throws(RoomRecorder.StorageError) -> Bool {
    switch try examine() {
    case .intact: return true
    case .refused: return false
    case .repairable(let plan):
      try plan.carryOut(on: self)
      return true
    }
  }
}

/// Recordings that were never closed.
enum Unfinished {
  /// Returns the files of a small call as they are on the disk after a time, by name.
  static func files(after seconds: Double = 4, segment: SegmentLimit? = nil) async throws -> [String: [UInt8]] {
    try await files(of: try SmallCall.script(seconds), after: seconds, segment: segment)
  }

  /// Returns the bytes of one of them. `anna.mkv` and `anna.mka` are of a call in H.264 and PCMU.
  static func file(_ name: String, after seconds: Double = 4) async throws -> [UInt8] {
    let isOther = name.hasSuffix("mkv") || name.hasSuffix("mka")
    let files =
      isOther ? try await self.files(of: otherCodecs(seconds), after: seconds) : try await files(after: seconds)
    return try #require(files[name])
  }

  private static func otherCodecs(_ seconds: Double) throws -> Script {
    var script = Script("anna")
    script.add(try TestMedia.octets(seconds, codec: .pcmu), codec: .pcmu)
    script.add(try TestMedia.h264(seconds, size: VideoSize(width: 64, height: 48)), codec: .h264)
    script.addReports(.pcmu, at: [0.5])
    script.addReports(.h264, at: [0.6])
    return script
  }

  /// Returns the files of a call as they are on the disk after a time, by name.
  static func files(
    of script: Script, after seconds: Double, segment: SegmentLimit? = nil
  ) async throws -> [String: [UInt8]] {
    let disk = ScriptedDisk()
    let folder = TestFolder()
    let recorder = try folder.recorder(segment: segment, disk: disk)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder)
    let files = disk.files.filter { !$0.key.hasPrefix(".") }
    await recorder.finish(now: Script.beginning + .seconds(seconds))
    return files
  }
}
