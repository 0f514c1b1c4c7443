import Media
import NIOCore
import Recorder

/// Recordings that were never closed, and their manifests.
enum RepairTargets {
  /// A file in memory to repair.
  private final class MemoryFile: RepairTarget {
    private(set) var bytes: [UInt8]
    let size: Int64
    /// The number of reads.
    private(set) var reads = 0
    private let content: ByteBuffer

    init(_ bytes: [UInt8]) {
      self.bytes = bytes
      content = ByteBuffer(bytes: bytes)
      size = Int64(bytes.count)
    }

    func read(at offset: Int64, count: Int) throws(RoomRecorder.StorageError) -> ByteBuffer {
      guard offset >= 0, offset < size else { return ByteBuffer() }
      reads += 1
      return content.getSlice(at: Int(offset), length: min(count, Int(size - offset))) ?? ByteBuffer()
    }

    func truncate(to size: Int64) throws(RoomRecorder.StorageError) { bytes = Array(bytes.prefix(Int(size))) }

    func write(_ write: FileWrite) throws(RoomRecorder.StorageError) {
      let content = Array(write.bytes.readableBytesView)
      let end = Int(write.offset) + content.count
      if content.isEmpty { return }
      if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
      bytes.replaceSubrange(Int(write.offset)..<end, with: content)
    }

    func sync() throws(RoomRecorder.StorageError) {}

    func examine() throws(RoomRecorder.StorageError) -> RepairAnalysis {
      bytes.starts(with: Array("OggS".utf8)) ? try OggRepair.examine(self) : try MatroskaRepair.examine(self)
    }
  }

  /// Repairs WebM or Ogg. A repair leaves a file unchanged or completes it, and needs a bounded number of reads.
  static func media(_ input: [UInt8]) throws(InvariantViolation) {
    do {
      let file = MemoryFile(input)
      let finding = try file.examine()
      if case .repairable(let plan) = finding { try plan.carryOut(on: file) }
      try require(file.reads <= 4 * input.count + 50_000, "A file of \(input.count) bytes is read \(file.reads) times.")
      try require(
        file.bytes.count <= 3 * input.count + 64, "A repair writes \(file.bytes.count) bytes for \(input.count).")
      if case .refused = finding { return try require(file.bytes == input, "A rejected file is changed.") }
      guard case .intact = try MemoryFile(file.bytes).examine() else {
        throw InvariantViolation("A file is not complete after its repair.")
      }
      let source = MemoryFile(file.bytes)
      if input.starts(with: Array("OggS".utf8)) {
        _ = try OggRepair.packets(in: source)
      } else {
        _ = try MatroskaRepair.writtenFrames(in: source)
      }
    } catch let error as InvariantViolation {
      throw error
    } catch {
      throw InvariantViolation("A file in memory cannot be repaired: \(error)")
    }
  }

  /// Repairs a manifest with two recordings, one complete and one cut off.
  static func manifest(_ input: [UInt8]) throws(InvariantViolation) {
    if let manifest = try? RecordingManifest(parsing: input) {
      guard let again = try? manifest.json, let same = try? RecordingManifest(parsing: Array(again.readableBytesView))
      else { throw InvariantViolation("A manifest that was read cannot be written or parsed again.") }
      try require(same == manifest, "A manifest does not round-trip.")
    }
    let folder = try ScratchFolder()
    try folder.write(input, as: "anna.json")
    try folder.write(audio, as: "anna.ogg")
    try folder.write(Array(audio.dropLast(40)), as: "anna.0002.ogg")
    try folder.write(videoFrames, as: "anna.webm")
    for report in RoomRecorder.repair("\(folder.path)/anna.json") { _ = report.description }
    try require(
      RoomRecorder.repair(folder.path).allSatisfy { !$0.isComplete || $0.outcome == .intact },
      "A second repair is needed.")
  }

  /// A small Ogg file.
  private static let audio: [UInt8] = {
    guard var writer = try? OggOpusWriter(serial: 7, channels: 1) else { return [] }
    var writes = writer.start()
    for offset in 0..<10 {
      writes += writer.add(ByteBuffer(bytes: [0xF8, 0xFF, 0xFE]), duration: 960, position: Int64(offset * 960))
    }
    return joined(writes + writer.finish())
  }()

  /// A small WebM file that was never closed.
  private static let videoFrames: [UInt8] = {
    var writer = MatroskaWriter(video: .init(codec: .vp8, size: .init(width: 32, height: 32)), audio: nil, date: 0)
    return joined(writer.start())
  }()

  private static func joined(_ writes: [FileWrite]) -> [UInt8] {
    let file = MemoryFile([])
    for write in writes { try? file.write(write) }
    return file.bytes
  }
}
