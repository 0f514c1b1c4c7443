import Foundation
import NIOCore

/// Repairs one file, or a manifest with all its files: opens, looks, carries out, and reports.
struct RecordingRepair {
  private let path: String
  private let folder: String
  private let name: String

  init(path: String) {
    self.path = path
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    name = parts.last.map(String.init) ?? path
    let parent = parts.dropLast().joined(separator: "/")
    folder = parts.count == 1 ? "." : parent.isEmpty ? "/" : parent
  }

  func run() -> [RepairReport] {
    if name.hasSuffix(".json") { return repairManifest(path) }
    let report = repairMedia(path, followsLinks: true)
    guard report.isWhole, let manifest = manifestBeside else { return [report] }
    return [report] + updateManifest(manifest)
  }

  // MARK: Media

  private func repairMedia(_ path: String, followsLinks: Bool) -> RepairReport {
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

  private func examine(_ file: OpenRecording) throws(Recorder.DiskError) -> RepairFinding {
    let start = Array(try file.read(at: 0, count: 4).readableBytesView)
    switch start {
    case [0x1A, 0x45, 0xDF, 0xA3]: return try WebMRepair.examine(file)
    case Array("OggS".utf8): return try OggRepair.examine(file)
    case []: return .refused("is empty")
    default: return .refused("is neither a WebM file nor an Ogg file nor a recording's manifest")
    }
  }

  private static func outcome(of failure: OpenRecording.Failure) -> RepairReport.Outcome {
    switch failure {
    case .busy: .refused("is being recorded at this moment")
    case .notAFile: .refused("is not a file")
    case .disk(let error) where error.code == ENOENT: .missing
    case .disk(let error): .failed(error)
    }
  }

  // MARK: Manifests

  /// Repairs all files of a manifest, and the manifest when that succeeded.
  private func repairManifest(_ path: String) -> [RepairReport] {
    do throws(OpenRecording.Failure) {
      let file = try OpenRecording(path: path)
      do {
        guard let manifest = try RecordingManifest.read(file) else {
          return [RepairReport(path: path, outcome: .refused("is not a recording's manifest"))]
        }
        if manifest.finished { return [RepairReport(path: path, outcome: .whole)] }
        let reports = mediaNames(of: manifest, at: path).map { repairMedia(sibling($0), followsLinks: false) }
        return reports + updateManifest(path, locked: file, manifest)
      } catch {
        return [RepairReport(path: path, outcome: .failed(error))]
      }
    } catch {
      return [RepairReport(path: path, outcome: Self.outcome(of: error))]
    }
  }

  /// Brings the manifest of a repaired file up to date, unless the recording still grows: then that is done in any case.
  private func updateManifest(_ path: String) -> [RepairReport] {
    guard let file = try? OpenRecording(path: path, followsLinks: false),
      let manifest = try? RecordingManifest.read(file), !manifest.finished
    else { return [] }
    return updateManifest(path, locked: file, manifest)
  }

  /// Writes down in a manifest what its files are like now.
  private func updateManifest(
    _ path: String, locked: OpenRecording, _ manifest: RecordingManifest
  ) -> [RepairReport] {
    var manifest = manifest
    let known = Dictionary(manifest.files.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var files: [RecordingManifest.File] = []
    let base = String((path.split(separator: "/").last ?? "").dropLast(".json".count))
    for name in mediaNames(of: manifest, at: path) {
      guard let file = try? OpenRecording(path: sibling(name), followsLinks: false, writes: false) else {
        if let entry = known[name] { files.append(entry) }
        continue
      }
      var entry =
        known[name]
        ?? RecordingManifest.File(
          name: name, kind: name.hasSuffix(".\(WebMFile.ending)") ? WebMFile.ending : OggFile.ending, start: 0,
          duration: 0, bytes: 0, complete: false, segment: Self.segment(of: name, base: base))
      entry.bytes = file.size
      if case .whole(let duration)? = try? examine(file) {
        entry.duration = duration.roundedSeconds
        entry.complete = true
      }
      files.append(entry)
    }
    manifest.files = files
    manifest.duration = files.map { $0.start + $0.duration }.max() ?? manifest.duration
    manifest.finished = files.allSatisfy { $0.complete || !exists($0.name) }
    manifest.repaired = true
    do {
      let name = path.split(separator: "/").last.map(String.init) ?? path
      try Folder(path: folder).replace(name, with: manifest.json, durably: true)
      guard withExtendedLifetime(locked, { manifest.finished }) else { return [] }
      removeDrafts(of: base)
      return [RepairReport(path: path, outcome: .mended(.zero))]
    } catch let error as Recorder.DiskError {
      return [RepairReport(path: path, outcome: .failed(error))]
    } catch {
      return [RepairReport(path: path, outcome: .refused("\(error)"))]
    }
  }

  /// Throws away what a killed program was about to make.
  private func removeDrafts(of base: String) {
    for draft in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
      guard let name = SafeName.final(ofDraft: draft), name == "\(base).json" || Self.isMedia(name, of: base),
        let file = try? OpenRecording(path: sibling(draft), followsLinks: false)
      else { continue }
      withExtendedLifetime(file) { try? FileManager.default.removeItem(atPath: sibling(draft)) }
    }
  }

  /// The files that a manifest lists, and those beside it that were begun after it was written for the last time.
  private func mediaNames(of manifest: RecordingManifest, at path: String) -> [String] {
    let base = String((path.split(separator: "/").last ?? "").dropLast(".json".count))
    let listed = manifest.files.map(\.name).filter { Self.isMedia($0, of: base) }
    let beside = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { name in
      guard Self.isMedia(name, of: base), !listed.contains(name), let stem = Self.stem(of: name) else { return false }
      return stem == base || !exists("\(stem).json")
    }
    return listed + beside.sorted()
  }

  /// The manifest beside a media file, by its name or by its name without the segment's number.
  private var manifestBeside: String? {
    guard let stem = Self.stem(of: name) else { return nil }
    let shorter = stem.split(separator: ".").dropLast().joined(separator: ".")
    let candidates = Self.segment(of: name, base: shorter) == nil ? [stem] : [stem, shorter]
    return candidates.first { exists("\($0).json") }.map { sibling("\($0).json") }
  }

  private func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: sibling(name)) }

  private func sibling(_ name: String) -> String {
    switch folder {
    case ".": name
    case "/": "/\(name)"
    default: "\(folder)/\(name)"
    }
  }

  // MARK: Names

  /// A media file's name without its ending; nil for any other name, and for whatever leads elsewhere.
  private static func stem(of name: String) -> String? {
    if name.contains("/") || name.utf8.contains(0) { return nil }
    for ending in [WebMFile.ending, OggFile.ending] where name.hasSuffix(".\(ending)") {
      let stem = name.dropLast(ending.count + 1)
      return stem.isEmpty ? nil : String(stem)
    }
    return nil
  }

  /// Whether `SafeName.file` makes the name from this base.
  private static func isMedia(_ name: String, of base: String) -> Bool {
    guard !base.isEmpty, let stem = stem(of: name) else { return false }
    return stem == base || segment(of: name, base: base) != nil
  }

  private static func segment(of name: String, base: String) -> Int? {
    guard let stem = stem(of: name), !base.isEmpty, stem.hasPrefix("\(base).") else { return nil }
    let digits = stem.dropFirst(base.count + 1)
    guard digits.utf8.count >= 4, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(digits)
  }
}
