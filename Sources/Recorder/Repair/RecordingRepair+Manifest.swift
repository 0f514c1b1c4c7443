import FoundationEssentials
import Media
import NIOCore

/// The repair of a manifest with all its files.
///
/// The files of a manifest are those that it lists, whatever its own name is, and those that were created after it was
/// last written, which have the recording's name.
extension RecordingRepair {
  /// Repairs all files of a manifest, and then the manifest if that succeeded.
  func repairManifest() -> [RepairReport] {
    do throws(OpenRecording.Failure) {
      let file = try OpenRecording(path: path)
      do {
        guard let manifest = try RecordingManifest.read(file) else {
          return [report(.refused(try RecordingManifest.refusal(of: file)))]
        }
        if manifest.finished { return [report(.intact)] }
        let listed = manifest.files.map { repairListed($0.name) }
        let begunLater = unlistedNames(of: manifest).map { repairMedia(sibling($0), followsLinks: false) }
        if listed.isEmpty, begunLater.isEmpty, !hasOwnName(manifest) {
          return [report(.refused("lists no files and was renamed, so its files are unknown"))]
        }
        return listed + begunLater + update(manifest, locked: file)
      } catch {
        return [report(.failed(error))]
      }
    } catch {
      return [report(Self.outcome(of: error))]
    }
  }

  /// Updates the manifest of a repaired file, unless the recording still grows: then the recorder updates it.
  func updateManifest() -> [RepairReport] {
    guard let file = try? OpenRecording(path: path, followsLinks: false),
      let manifest = try? RecordingManifest.read(file), !manifest.finished
    else { return [] }
    return update(manifest, locked: file)
  }

  private func report(_ outcome: RepairReport.Outcome) -> RepairReport { RepairReport(path: path, outcome: outcome) }

  private func repairListed(_ listed: String) -> RepairReport {
    guard MediaName.stem(of: listed) != nil else {
      return RepairReport(
        path: listed, outcome: .refused("is listed by “\(path)”, but is not the name of a recording in the same folder")
      )
    }
    return repairMedia(sibling(listed), followsLinks: false)
  }

  // MARK: Updating the entries

  /// Updates the manifest to the current state of its files, in the current version. It is finished when all of them are
  /// complete or were deleted.
  private func update(_ manifest: RecordingManifest, locked: OpenRecording) -> [RepairReport] {
    var manifest = manifest
    manifest.version = RecordingManifest.currentVersion
    let bases = bases(of: manifest)
    let unlisted = unlistedNames(of: manifest).map { name in
      let base = bases.first { MediaName.isMedia(name, of: $0) } ?? ""
      return RecordingManifest.File(
        name: name, kind: RecordingFileKind(fileName: name)?.rawValue ?? "", codecs: [], start: 0, duration: 0,
        bytes: 0, complete: false, segment: MediaName.segment(of: name, base: base))
    }
    manifest.files = (manifest.files + unlisted).map(current)
    manifest.duration = manifest.files.map { $0.start + $0.duration }.max() ?? manifest.duration
    manifest.finished = manifest.files.allSatisfy { $0.complete || isDeleted($0.name) }
    if manifest.finished {
      manifest.repaired = true
      for kind in MediaKind.allCases {
        if let (frames, codec) = written(kind, in: manifest) { manifest.correct(kind, to: frames, codec: codec) }
      }
    }
    do {
      try RecordingDirectory(path: folder).replace(name, with: manifest.json, durably: true)
      guard withExtendedLifetime(locked, { manifest.finished }) else { return [] }
      removeDrafts(of: bases)
      return [report(.repaired(.zero))]
    } catch let error as RoomRecorder.StorageError {
      return [report(.failed(error))]
    } catch {
      return [report(.refused("\(error)"))]
    }
  }

  /// Returns the frames of a track that are in files, and the codec of the first of them; nil if one of the files was deleted or
  /// cannot be read.
  private func written(_ kind: MediaKind, in manifest: RecordingManifest) -> (WrittenFrameCounts, Codec?)? {
    var sum = WrittenFrameCounts()
    var codec: Codec?
    for entry in manifest.files {
      guard let fileKind = RecordingFileKind(rawValue: entry.kind), fileKind.countedKind == kind else { continue }
      guard MediaName.stem(of: entry.name) != nil,
        let file = try? OpenRecording(path: sibling(entry.name), followsLinks: false, writes: false),
        let found = try? Self.written(kind, of: fileKind, in: file, duration: entry.duration)
      else { return nil }
      codec = codec ?? found.codec
      let start = Self.duration(entry.start)
      var frames = found.frames
      frames.start += start
      frames.end += start
      sum.add(frames)
    }
    return (sum, codec)
  }

  /// Returns the frames of a track that are in a file, from its time zero on, and their codec; nil if it is no file of this program.
  ///
  /// - Parameter duration: the playing time of the file, in seconds.
  private static func written(
    _ kind: MediaKind, of fileKind: RecordingFileKind, in file: OpenRecording, duration: Double
  ) throws(RoomRecorder.StorageError) -> (frames: WrittenFrameCounts, codec: Codec?)? {
    switch fileKind {
    case .webm, .mkv, .mka: return try MatroskaRepair.writtenFrames(of: kind, in: file)
    case .ogg:
      guard let packets = try OggRepair.packets(in: file) else { return nil }
      return (
        WrittenFrameCounts(frames: packets, start: .zero, end: Self.duration(duration)), OggOpusWriter.codec
      )
    }
  }

  /// Converts a time of a manifest, clamped to about a century.
  private static func duration(_ seconds: Double) -> Duration { .seconds(min(max(seconds, -3e9), 3e9)) }

  private func isDeleted(_ name: String) -> Bool { MediaName.stem(of: name) != nil && !exists(name) }

  /// Returns a file's updated entry, or the old one if the file cannot be examined.
  private func current(_ entry: RecordingManifest.File) -> RecordingManifest.File {
    guard MediaName.stem(of: entry.name) != nil,
      let file = try? OpenRecording(path: sibling(entry.name), followsLinks: false, writes: false)
    else { return entry }
    var entry = entry
    entry.bytes = file.size
    // Manifests of earlier versions do not have them. A track can have begun after the manifest was written.
    if entry.codecs != nil { entry.codecs = Self.codecs(of: entry, in: file) ?? entry.codecs }
    if case .intact(let duration)? = try? examine(file) {
      entry.duration = duration.roundedSeconds
      entry.complete = true
    }
    return entry
  }

  private static func codecs(of entry: RecordingManifest.File, in file: OpenRecording) -> [String]? {
    switch RecordingFileKind(rawValue: entry.kind) {
    case .webm, .mkv, .mka: (try? MatroskaRepair.codecs(in: file))?.map(\.rawValue)
    case .ogg: [OggOpusWriter.codec.rawValue]
    case nil: nil
    }
  }

  /// Deletes drafts that a killed program left behind.
  private func removeDrafts(of bases: [String]) {
    for draft in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
      guard let final = SafeFileName.final(ofDraft: draft),
        bases.contains(where: { final == "\($0).json" || MediaName.isMedia(final, of: $0) }),
        let file = try? OpenRecording(path: sibling(draft), followsLinks: false)
      else { continue }
      withExtendedLifetime(file) { try? FileManager.default.removeItem(atPath: sibling(draft)) }
    }
  }

  // MARK: Finding the files

  /// Returns the files that were created after the manifest was last written.
  private func unlistedNames(of manifest: RecordingManifest) -> [String] {
    let listed = Set(manifest.files.map(\.name))
    let bases = bases(of: manifest)
    let all = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return all.filter { name in
      guard !listed.contains(name), let base = bases.first(where: { MediaName.isMedia(name, of: $0) }),
        let stem = MediaName.stem(of: name)
      else { return false }
      // Another recording can have a name that looks like a segment of this one.
      let isOwn = stem == base && base == ownBase
      return isOwn || !exists("\(stem).json")
    }.sorted()
  }

  /// Returns the manifest's own base name, and the base names of its files, which differ if it was renamed.
  private func bases(of manifest: RecordingManifest) -> [String] {
    let listed = manifest.files.compactMap { MediaName.base(of: $0.name, isSegment: $0.segment != nil) }
    // Files that have a manifest of their own name belong to that one.
    return [ownBase] + Set(listed).subtracting([ownBase]).filter { !exists("\($0).json") }.sorted()
  }

  private var ownBase: String { String(name.dropLast(".json".count)) }

  /// Whether the manifest has the name that the recorder gave it.
  private func hasOwnName(_ manifest: RecordingManifest) -> Bool {
    if let fileName = manifest.fileName { return fileName == ownBase }
    let wanted = SafeFileName(of: manifest.name ?? manifest.user).description
    guard var rest = Self.rest(of: ownBase[...], after: wanted) else { return false }
    if manifest.stream.number > 1 {
      guard let further = Self.rest(of: rest, after: SafeFileName.base("", stream: manifest.stream.number)) else {
        return false
      }
      rest = further
    }
    return rest.isEmpty
  }

  /// Returns what follows a part of a base name, and the number that was appended to it because it was taken; nil if it
  /// does not begin with that part.
  private static func rest(of base: Substring, after part: String) -> Substring? {
    guard base.hasPrefix(part) else { return nil }
    let rest = base.dropFirst(part.count)
    guard rest.first == "-" else { return rest }
    let digits = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
    return digits.isEmpty ? rest : rest.dropFirst(1 + digits.count)
  }
}
