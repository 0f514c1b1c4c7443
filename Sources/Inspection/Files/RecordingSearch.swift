import FileSource
import FoundationEssentials
import Recorder

/// Finds the files to inspect, and groups those of one recording.
package struct RecordingSearch {
  /// The maximum number of files read from a manifest; no call leaves more.
  static let maximumFiles = 20_000

  private var found: [FoundRecording] = []
  /// The index of each recording in `found`, by the path of its manifest, or of its file if it has none.
  private var positions: [String: Int] = [:]
  /// The media files that belong to a recording.
  private var taken: Set<String> = []
  private var manifests: [String: RecordingManifest] = [:]
  /// Files that are named like a manifest but are not one.
  private var refused: Set<String> = []
  /// Files that were named and are missing or cannot be read, a sentence each.
  package private(set) var problems: [String] = []
  /// Further remarks for the user, a sentence each.
  package private(set) var remarks: [String] = []

  package init() {}

  /// The recordings in the order in which they were made, each with its files in the order of their segments. Files with
  /// unknown time come last, in the order in which they were named.
  package var recordings: [FoundRecording] {
    let dated = found.enumerated().map { index, recording in
      (began: recording.manifest.flatMap { RecordedClock.milliseconds($0.content.start) } ?? .max, index: index)
    }
    return dated.sorted { ($0.began, $0.index) < ($1.began, $1.index) }.map { position in
      var recording = found[position.index]
      recording.files.sort { one, other in
        (one.segment ?? 0, one.entry?.start ?? 0, one.name) < (other.segment ?? 0, other.entry?.start ?? 0, other.name)
      }
      return recording
    }
  }

  /// Adds a file or a folder that the user named.
  package mutating func add(_ path: String) {
    var isFolder = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder {
      addFolder(path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path)
    } else if path.lowercased().hasSuffix(".json") {
      addManifest(path, isNamed: true)
    } else {
      addFile(path)
    }
  }

  private mutating func addFolder(_ folder: String) {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { !$0.hasPrefix(".") }.sorted()
    } catch {
      problems.append("“\(RecordedName.shown(folder))” cannot be inspected: the folder cannot be read.")
      return
    }
    let before = taken.count
    let problemsBefore = problems.count
    for name in names where name.hasSuffix(".json") {
      // The folder may contain other JSON files, such as the report of an inspection.
      let path = "\(folder)/\(name)"
      if (try? manifest(path)) != nil { addManifest(path, isNamed: false) }
    }
    for name in names where RecordedName.isMedia(name) { addFile("\(folder)/\(name)") }
    if taken.count == before, problems.count == problemsBefore, !names.contains(where: isTaken(in: folder)) {
      problems.append("“\(RecordedName.shown(folder))” holds no recording.")
    }
  }

  private func isTaken(in folder: String) -> (String) -> Bool {
    { name in taken.contains(Self.identity("\(folder)/\(name)")) }
  }

  /// Adds a manifest and all its files.
  ///
  /// - Parameter isNamed: whether the user named it, so that it must have media.
  private mutating func addManifest(_ path: String, isNamed: Bool) {
    do {
      let content = try manifest(path)
      let folder = Self.folder(of: path)
      let listed = content.files.prefix(Self.maximumFiles)
      for entry in listed {
        guard RecordedName.isBeside(entry.name) else {
          problems.append(
            "“\(RecordedName.shown(path))” lists “\(RecordedName.shown(entry.name))”, which is not the name of a recording "
              + "beside it.")
          continue
        }
        let file = folder + entry.name
        if FileManager.default.fileExists(atPath: file) {
          add(RecordedFile(path: file, entry: entry, segment: entry.segment), to: path, content)
        } else {
          remarks.append("“\(RecordedName.shown(file))”, which belongs to “\(RecordedName.shown(path))”, is missing.")
        }
      }
      for name in begunLater(than: content, at: path) { addFile(folder + name) }
      if content.files.isEmpty, content.tracks.isEmpty, positions[Self.identity(path)] == nil {
        let reason = content.problems.first.map { " \(RecordedName.shown($0))" } ?? ""
        let sentence = "“\(RecordedName.shown(path))” lists no media.\(reason)"
        if isNamed { problems.append(sentence) } else { remarks.append(sentence) }
      } else if positions[Self.identity(path)] == nil {
        problems.append("“\(RecordedName.shown(path))” cannot be inspected: all of its files are missing.")
      }
    } catch {
      problems.append("“\(RecordedName.shown(path))” \(error.clause).")
    }
  }

  /// Adds a media file, with its manifest if there is one.
  private mutating func addFile(_ path: String) {
    if taken.contains(Self.identity(path)) { return }
    let file = RecordedFile(path: path)
    guard let (manifestPath, content) = manifestBeside(file) else {
      let key = Self.identity(path)
      taken.insert(key)
      positions[key] = found.count
      found.append(FoundRecording(files: [file]))
      return
    }
    let entry = content.files.first { $0.name == file.name }
    if entry == nil {
      remarks.append(
        "“\(RecordedName.shown(path))” was created after its manifest was last written; it is assumed to continue where "
          + "the file before it ends.")
    }
    let segment = entry?.segment ?? RecordedName.segment(file.name)?.number
    add(RecordedFile(path: path, entry: entry, segment: segment), to: manifestPath, content)
  }

  private mutating func add(_ file: RecordedFile, to manifest: String, _ content: RecordingManifest) {
    guard taken.insert(Self.identity(file.path)).inserted else { return }
    let key = Self.identity(manifest)
    if let position = positions[key] { return found[position].files.append(file) }
    positions[key] = found.count
    found.append(FoundRecording(manifest: .init(path: manifest, content: content), files: [file]))
  }

  // MARK: Manifests

  private mutating func manifest(_ path: String) throws(InspectedManifest.ReadError) -> RecordingManifest {
    let key = Self.identity(path)
    if let known = manifests[key] { return known }
    let content = try InspectedManifest.read(path)
    manifests[key] = content
    return content
  }

  /// The manifest that lists the file, or that may have been written before the file was begun.
  private mutating func manifestBeside(_ file: RecordedFile) -> (path: String, content: RecordingManifest)? {
    let folder = Self.folder(of: file.path)
    let segment = RecordedName.segment(file.name)
    for base in [RecordedName.stem(file.name), segment?.base].compactMap(\.self) {
      let path = "\(folder)\(base).json"
      guard FileManager.default.fileExists(atPath: path) else { continue }
      guard let content = try? manifest(path) else {
        if refused.insert(path).inserted {
          remarks.append(
            "“\(RecordedName.shown(path))” is not a recording's manifest, so the files beside it are judged by themselves."
          )
        }
        continue
      }
      let isListed = content.files.contains { $0.name == file.name }
      if isListed || (!content.finished && isOwn(file.name, base: base)) { return (path, content) }
    }
    return nil
  }

  /// The files of a recording that its manifest does not list because the program was killed.
  private func begunLater(than content: RecordingManifest, at path: String) -> [String] {
    if content.finished { return [] }
    let folder = Self.folder(of: path)
    let name = path.split(separator: "/").last.map(String.init) ?? path
    let base = RecordedName.stem(name)
    let listed = Set(content.files.map(\.name))
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
    return names.filter { isOwn($0, base: base) && !listed.contains($0) }.sorted()
  }

  /// Whether a recorder with this base name creates a file of this name.
  private func isOwn(_ name: String, base: String) -> Bool {
    guard RecordingFileKind(fileName: name) != nil else { return false }
    return RecordedName.stem(name) == base || RecordedName.segment(name)?.base == base
  }

  /// Whether the path belongs to a file that is inspected.
  func holds(_ path: String) -> Bool {
    let identity = Self.identity(path)
    return taken.contains(identity) || positions[identity] != nil
  }

  // MARK: Paths

  /// The folder with a trailing slash; empty for a name alone.
  private static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
  }

  /// A unique name of the file, with links resolved.
  private static func identity(_ path: String) -> String {
    URL(fileURLWithPath: path).resolvingSymlinksInPath().standardizedFileURL.path
  }
}

/// Reads manifests with bounded memory.
enum InspectedManifest {
  /// No manifest is larger, because its lists are bounded.
  static let maximumManifestSize = 16 << 20

  /// Why a file is not accepted as a manifest, as a clause that follows its name.
  struct ReadError: Error {
    let clause: String
  }

  static func read(_ path: String) throws(ReadError) -> RecordingManifest {
    let bytes = try bytes(path)
    do {
      return try RecordingManifest(parsing: bytes)
    } catch {
      // A missing field does not help the user, but a newer program's version does.
      let reason = error.reason.hasPrefix("its version") ? ": \(error.reason)" : ""
      throw ReadError(
        clause: reason.isEmpty ? RecordingManifest.refusal(of: bytes) : "is not a recording's manifest\(reason)")
    }
  }

  private static func bytes(_ path: String) throws(ReadError) -> [UInt8] {
    do {
      let file = try OpenFile(path)
      if file.size <= UInt64(maximumManifestSize) { return try file.bytes(Int(file.size), from: 0) }
    } catch {
      throw ReadError(clause: "cannot be inspected: \(error)")
    }
    throw ReadError(clause: "is not a recording's manifest: it is larger than \(maximumManifestSize >> 20) MiB")
  }
}
