import FoundationEssentials
import Glibc
import NIOCore

/// Repairs one file, or a manifest with all its files: opens, examines, applies the plan, and reports.
struct RecordingRepair {
  let path: String
  let folder: String
  let name: String

  init(path: String) {
    self.path = path
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    name = parts.last.map(String.init) ?? path
    let parent = parts.dropLast().joined(separator: "/")
    folder = parts.count == 1 ? "." : parent.isEmpty ? "/" : parent
  }

  func run() -> [RepairReport] {
    if name.hasSuffix(".json") { return repairManifest() }
    let report = repairMedia(path, followsLinks: true)
    guard report.isComplete, let manifest = manifestBeside else { return [report] }
    return [report] + RecordingRepair(path: manifest).updateManifest()
  }

  // MARK: Media

  func repairMedia(_ path: String, followsLinks: Bool) -> RepairReport {
    do throws(OpenRecording.Failure) {
      let file = try OpenRecording(path: path, followsLinks: followsLinks)
      do {
        switch try examine(file) {
        case .intact: return RepairReport(path: path, outcome: .intact)
        case .refused(let reason): return RepairReport(path: path, outcome: .refused(reason))
        case .repairable(let plan):
          try plan.carryOut(on: file)
          return RepairReport(path: path, outcome: .repaired(plan.duration))
        }
      } catch {
        return RepairReport(path: path, outcome: .failed(error))
      }
    } catch {
      return RepairReport(path: path, outcome: Self.outcome(of: error))
    }
  }

  func examine(_ file: OpenRecording) throws(RoomRecorder.StorageError) -> RepairAnalysis {
    let start = Array(try file.read(at: 0, count: 4).readableBytesView)
    switch start {
    case [0x1A, 0x45, 0xDF, 0xA3]: return try MatroskaRepair.examine(file)
    case Array("OggS".utf8): return try OggRepair.examine(file)
    case []: return .refused("is empty")
    default: return .refused("is neither a WebM, Matroska or Ogg file nor a recording's manifest")
    }
  }

  static func outcome(of failure: OpenRecording.Failure) -> RepairReport.Outcome {
    switch failure {
    case .busy: .refused("is being recorded")
    case .notAFile: .refused("is not a file")
    case .disk(let error) where error.code == ENOENT: .missing
    case .disk(let error): .failed(error)
    }
  }

  /// The manifest next to a media file: that of the same name, or of the name without the segment number.
  private var manifestBeside: String? {
    guard let stem = MediaName.stem(of: name) else { return nil }
    let shorter = stem.split(separator: ".").dropLast().joined(separator: ".")
    let candidates = MediaName.segment(of: name, base: shorter) == nil ? [stem] : [stem, shorter]
    return candidates.first { exists("\($0).json") }.map { sibling("\($0).json") }
  }

  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: sibling(name)) }

  func sibling(_ name: String) -> String {
    switch folder {
    case ".": name
    case "/": "/\(name)"
    default: "\(folder)/\(name)"
    }
  }
}

/// The result of examining a file.
package enum RepairAnalysis: Sendable, Hashable {
  /// The file was closed properly.
  case intact(Duration)
  case repairable(RepairPlan)
  /// The file is not repaired, for a reason that completes “FILE …”.
  case refused(String)

  /// The maximum number of offsets that a search after damage inspects, in total, since each costs some reading.
  static let maximumOffsets = 10_000
  static let hasTrailingData = RepairAnalysis.refused("contains data after the end of its recording")
  static let tooDamaged = RepairAnalysis.refused("is damaged in too many places")
}

/// The changes that complete a file that was never closed.
package struct RepairPlan: Sendable, Hashable {
  /// The end of the last complete frame: the file is truncated there.
  package var truncation: Int64
  /// The first writes, in stages: each must be on the disk before the next is written. After any part of them, the file
  /// is still as readable as before.
  package var stages: [[FileWrite]] = []
  /// The writes that mark the file as complete; they are written last.
  package var head: [FileWrite] = []
  /// The playing time of the completed file.
  package var duration: Duration

  /// Applies the plan. After any failure, or if the program is killed at any point, the file is still as readable as
  /// before, and can be repaired again.
  package func carryOut(on target: any RepairTarget) throws(RoomRecorder.StorageError) {
    if truncation < target.size { try target.truncate(to: truncation) }
    do {
      for stage in stages {
        for write in stage { try target.write(write) }
        try target.sync()
      }
    } catch {
      // The data after the frames is useless without the rest.
      try? target.truncate(to: truncation)
      throw error
    }
    if head.isEmpty { return }
    for write in head { try target.write(write) }
    try target.sync()
  }
}

/// The operations of a repair on a file, so that tests can provide one that fails or stops at any point.
package protocol RepairTarget: ByteSource {
  /// Truncates the file.
  func truncate(to size: Int64) throws(RoomRecorder.StorageError)
  /// Writes all bytes, or throws after having written some of them.
  func write(_ write: FileWrite) throws(RoomRecorder.StorageError)
  /// Waits until everything written is on the disk.
  func sync() throws(RoomRecorder.StorageError)
}

/// Parses the names of a recording's media files.
enum MediaName {
  /// Returns a media file's name without its extension; nil for any other name, and for names that lead out of the
  /// folder.
  static func stem(of name: String) -> String? {
    if name.contains("/") || name.utf8.contains(0) || name.hasPrefix(".") { return nil }
    guard let kind = RecordingFileKind.allCases.first(where: { name.hasSuffix(".\($0.rawValue)") }) else { return nil }
    let stem = name.dropLast(kind.rawValue.count + 1)
    return stem.isEmpty ? nil : String(stem)
  }

  /// Whether `SafeFileName.file` creates this name from this base.
  static func isMedia(_ name: String, of base: String) -> Bool {
    guard !base.isEmpty, let stem = stem(of: name) else { return false }
    return stem == base || segment(of: name, base: base) != nil
  }

  /// Returns the number of a segment's file; nil for any other file.
  static func segment(of name: String, base: String) -> Int? {
    guard let stem = stem(of: name), !base.isEmpty, stem.hasPrefix("\(base).") else { return nil }
    let digits = stem.dropFirst(base.count + 1)
    guard digits.utf8.count >= 4, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(digits)
  }

  /// Returns the common part of the names of a recording's files, from the name of one of them.
  ///
  /// - Parameter isSegment: whether the file is one of several segments.
  static func base(of name: String, isSegment: Bool) -> String? {
    guard let stem = stem(of: name) else { return nil }
    guard isSegment else { return stem }
    let shorter = stem.split(separator: ".", omittingEmptySubsequences: false).dropLast().joined(separator: ".")
    return segment(of: name, base: shorter) == nil ? stem : shorter
  }
}
