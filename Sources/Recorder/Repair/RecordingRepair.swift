import FoundationEssentials
import Glibc
import NIOCore

/// Repairs one file, or a manifest with all its files: opens, looks, carries out, and reports.
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
    guard report.isWhole, let manifest = manifestBeside else { return [report] }
    return [report] + RecordingRepair(path: manifest).updateManifest()
  }

  // MARK: Media

  func repairMedia(_ path: String, followsLinks: Bool) -> RepairReport {
    do throws(OpenRecording.Failure) {
      let file = try OpenRecording(path: path, followsLinks: followsLinks)
      do {
        switch try examine(file) {
        case .whole: return RepairReport(path: path, outcome: .whole)
        case .refused(let reason): return RepairReport(path: path, outcome: .refused(reason))
        case .mendable(let plan):
          try plan.carryOut(on: file)
          return RepairReport(path: path, outcome: .mended(plan.duration))
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
    case [0x1A, 0x45, 0xDF, 0xA3]: return try WebMRepair.examine(file)
    case Array("OggS".utf8): return try OggRepair.examine(file)
    case []: return .refused("is empty")
    default: return .refused("is neither a WebM file nor an Ogg file nor a recording's manifest")
    }
  }

  static func outcome(of failure: OpenRecording.Failure) -> RepairReport.Outcome {
    switch failure {
    case .busy: .refused("is being recorded at this moment")
    case .notAFile: .refused("is not a file")
    case .disk(let error) where error.code == ENOENT: .missing
    case .disk(let error): .failed(error)
    }
  }

  /// The manifest beside a media file, by its name or by its name without the segment's number.
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

/// What was found out about a file.
enum RepairAnalysis: Sendable, Hashable {
  /// It was closed in good order.
  case whole(Duration)
  case mendable(RepairPlan)
  /// It is left alone, for a reason that completes “FILE …”.
  case refused(String)

  /// How many places a search behind damage looks at, in all; each costs some reading.
  static let maximumPlaces = 10_000
  static let goesOnBehindItsEnd = RepairAnalysis.refused("holds more behind the end of its recording")
  static let tooDamaged = RepairAnalysis.refused("is damaged in too many places")
}
