internal import CFiles
internal import JobProtocol
internal import Logging
internal import Media
internal import ObjectStore
internal import SQLStore

/// The files of a recorder's folder, and which of them are in the store.
final class FolderFiles: Sendable {
  private let folder: RecordedFolder
  private let state: FolderUploadFile
  private let objects: any ObjectStore
  private let settings: FolderUpload.Settings
  private let logger: Logger
  /// Called when something was stored.
  private let progressed: @Sendable () -> Void

  private static let maximumAtOnce = 4
  private static let maximumKeys = 9
  private static let maximumRepairs = 3

  init(
    _ folder: RecordedFolder, _ state: FolderUploadFile, to objects: any ObjectStore, settings: FolderUpload.Settings,
    logger: Logger, progressed: @escaping @Sendable () -> Void
  ) {
    self.folder = folder
    self.state = state
    self.objects = objects
    self.settings = settings
    self.logger = logger
    self.progressed = progressed
  }

  private func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await BlockingWork.run("upload", niceness: 10, within: .seconds(300), body)
  }

  /// Does something with the store again until it succeeds, is refused or is cancelled: the disk keeps what waits.
  private func persistently(
    _ body: @Sendable () async throws -> StoredObject
  ) async throws -> StoredObject {
    var backoff = StoreBackoff()
    while true {
      do {
        return try await body()
      } catch let error as ObjectStoreError where [.full, .timeout, .storage].contains(error.kind) {
        if backoff.failures == 0 { logger.error("Files are not stored for now: \(error.description)") }
        try await ServiceTimer.sleep(for: backoff.failed())
      }
    }
  }

  // MARK: While it is recorded

  /// Stores the files that a manifest calls complete, and the manifests of recordings that are finished.
  func storeClosed() async throws {
    let folder = folder
    let closed = try await blocking {
      let files = try folder.files()
      let manifests = folder.manifests(files, whileTheyAreWritten: true)
      var complete = Set(
        manifests.flatMap { $0.manifest.files.filter(\.complete).map { UntrustedText($0.name) } })
      complete.formUnion(manifests.filter(\.manifest.finished).map { UntrustedText($0.file.name) })
      return files.filter { complete.contains(UntrustedText($0.name)) }
    }
    for (name, reason) in try await store(closed) {
      logger.debug("\(name.printable(utf8Bytes: 200)) is not stored yet: \(reason)")
    }
  }

  // MARK: After it

  /// Repairs what was not finished, stores everything, and describes it.
  func finish() async throws -> FolderUpload.Result {
    try await repair()
    let folder = folder
    let (files, manifests) = try await blocking { () throws in
      let files = try folder.files()
      return (files, folder.manifests(files))
    }
    let missing = try await store(files)
    let stored = state.value
    if stored.files.isEmpty, missing.isEmpty {
      return FolderUpload.Result(document: "", files: 0, bytes: 0, isComplete: true)
    }
    let document = document(files, manifests.map(\.manifest), missing, stored)
    let name = try await store(document, stored)
    var url = settings.url
    if url.utf8.last == UInt8(ascii: "/") { url.removeLast() }
    let result = FolderUpload.Result(
      document: "\(url)/\(stored.path)/\(name)",
      files: stored.files.count, bytes: stored.files.values.reduce(0) { $0 + $1.bytes },
      isComplete: document.complete)
    if let first = missing.first {
      let others = missing.count > 1 ? " (and \(missing.count - 1) others)" : ""
      let name = first.name.printable(utf8Bytes: 200)
      throw FolderUpload.Failure(
        .incomplete, "\(name)\(others) was not stored: \(first.reason) The rest is at \(result.document).")
    }
    return result
  }

  private func repair() async throws {
    let folder = folder
    guard let program = settings.program else { return }
    for _ in 0..<Self.maximumRepairs {
      guard try await blocking({ try folder.needsRepair() }) else { return }
      let bytes = try await blocking { try folder.files().reduce(0) { $0 + $1.size } }
      let limit = Duration.seconds(60 + bytes / 10_000_000)
      let words = program + ["repair", "--quiet", "--", folder.media]
      let result = try await BlockingWork.run("repair", niceness: 10, within: limit + .seconds(60)) {
        try RepairProcess.run(words, within: limit)
      }
      if result.exit == .code(0) { return }
      logger.notice("A repair ended with: \(result.lastWords)")
    }
  }

  private func document(
    _ files: [RecordedFolder.File], _ manifests: [RecordedManifest],
    _ missing: [(name: String, reason: String)], _ state: FolderUploadState
  ) -> RecordingDocument {
    let starts = manifests.map(\.start)
    let ends = manifests.map { manifest in
      manifest.start + (manifest.tracks.map { $0.start + $0.duration }.max() ?? 0)
    }
    var part = RecordedAttempt(
      number: 1, id: state.attempt, version: settings.version, start: starts.min() ?? state.createdAt,
      end: ends.max(), how: nil, endedInOrder: manifests.allSatisfy(\.hasEndReason))
    part.manifests = manifests
    part.objects = state.files.values.map { file in
      RecordingDocument.Object(
        name: file.name, object: file.object, kind: file.kind, bytes: file.bytes, sha256: file.sha256, attempt: 1)
    }
    part.missing = missing.map { RecordingDocument.Missing(name: $0.name, reason: $0.reason) }
    // What a manifest lists and nobody has.
    let present = Set(files.map { UntrustedText($0.name) }).union(state.files.values.map { UntrustedText($0.name) })
    for name in Set(manifests.flatMap { $0.files.map { UntrustedText($0.name) } }).subtracting(present).sorted() {
      part.missing.append(RecordingDocument.Missing(name: name.string, reason: "The file is gone."))
    }
    var document = RecordingDocument(
      job: state.recording, kind: "record", project: FolderUpload.project,
      room: manifests.lazy.compactMap(\.room).first ?? "", labels: [:])
    document.writer = "chatbot-service upload"
    document.describe([part])
    return document
  }

  /// Writes the description, unless the last one says the same.
  ///
  /// - Returns: its name.
  private func store(_ document: RecordingDocument, _ known: FolderUploadState) async throws -> String {
    let keys = document.objects.map(\.object)
    var number = known.documents
    if number > 0, known.described == keys { return RecordingDocument.name(number) }
    while number < 1_000 {
      number += 1
      let name = RecordingDocument.name(number)
      guard let key = ObjectKey(known.path)?.appending(name) else { break }
      do {
        let json = try document.json
        _ = try await persistently { [objects] in try await objects.put(json, at: key) }
      } catch let error as ObjectStoreError where error.kind == .exists {
        // An upload that was ended before it noted its description; files may have been added since.
        continue
      }
      let written = number
      try state.change { state in
        state.documents = written
        state.described = keys
      }
      return name
    }
    throw FolderUpload.Failure(.incomplete, "The recording has too many descriptions.")
  }

  // MARK: Files

  /// Stores files, several at a time.
  ///
  /// - Returns: what cannot be stored, and why.
  private func store(_ files: [RecordedFolder.File]) async throws -> [(name: String, reason: String)] {
    let known = state.value.files
    let names = Dictionary(known.values.map { (UntrustedText($0.name), $0) }) { first, _ in first }
    let due = try await blocking {
      files.filter { file in
        guard let stored = names[UntrustedText(file.name)] else { return true }
        guard let status = FileStatus(file.path) else { return false }
        return status.size != stored.bytes || status.changed != stored.changed
      }
    }
    return try await withThrowingTaskGroup(of: (name: String, reason: String)?.self) { group in
      var rest = due[...]
      var missing: [(name: String, reason: String)] = []
      for file in rest.prefix(Self.maximumAtOnce) { group.addTask { try await self.store(file) } }
      rest = rest.dropFirst(Self.maximumAtOnce)
      while let result = try await group.next() {
        if let result { missing.append(result) }
        if let file = rest.popFirst() { group.addTask { try await self.store(file) } }
      }
      return missing.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
  }

  /// - Returns: nil if it is stored.
  private func store(_ file: RecordedFolder.File) async throws -> (name: String, reason: String)? {
    let source: SourceFile
    let status: FileStatus
    do {
      (source, status) = try await blocking {
        guard let status = FileStatus(file.path) else {
          throw ObjectStoreError(.missing, "\(file.name.printable(utf8Bytes: 200)) is gone.")
        }
        return (try SourceFile(path: file.path), status)
      }
    } catch let error as ObjectStoreError where [.missing, .notAFile, .busy].contains(error.kind) {
      return (file.name, error.description)
    }
    let known = state.value
    guard let prefix = ObjectKey(known.path)?.appending("1-\(known.attempt)") else {
      return (file.name, "The path of its key is too long.")
    }
    let parts = file.name.split(separator: "/").map { KeyText.part(String($0)) }
    for number in 1...Self.maximumKeys {
      // A file that was changed after it was stored is another object.
      let folder = number == 1 ? [] : ["\(number)"]
      guard let key = ObjectKey(([prefix.text] + folder + parts).joined(separator: "/")) else { break }
      do {
        let object = try await persistently { [objects] in try await objects.put(source, at: key) }
        let kind = Self.kind(of: file)
        try state.change { state in
          state.files[parts.joined(separator: "/")] = FolderUploadState.File(
            name: file.name, object: key.text, kind: kind, bytes: object.bytes, sha256: object.sha256,
            changed: status.changed)
        }
        progressed()
        return nil
      } catch let error as ObjectStoreError where error.kind == .exists {
        logger.notice("\(error.description) The file gets another key.")
      } catch let error as ObjectStoreError where error.kind == .keyTooLong {
        return (file.name, error.description)
      }
    }
    return (file.name, "Others have put objects under its keys.")
  }

  private static func kind(of file: RecordedFolder.File) -> String {
    if let ending = MediaEnding(fileName: file.name) { return ending.rawValue }
    if let kind = JournalEvent.ClosedFile.Kind(fileName: file.name) { return kind.rawValue }
    guard file.name.hasSuffix(".json"), let source = try? SourceFile(path: file.path),
      let text = try? source.readAll(limit: RecordedManifest.maximumBytes), RecordedManifest(parsing: text) != nil
    else { return "other" }
    return JournalEvent.ClosedFile.Kind.manifest.rawValue
  }
}

/// The size of a file, and when it was changed.
struct FileStatus: Sendable, Hashable {
  var size: Int64
  /// Nanoseconds since 1970.
  var changed: Int64

  /// Nil if there is no such file.
  init?(_ path: String) {
    var version = cfiles_version()
    guard cfiles_read_version(path, &version) == 0 else { return nil }
    size = version.bytes
    let (seconds, overflow) = version.seconds.multipliedReportingOverflow(by: 1_000_000_000)
    changed = overflow ? 0 : seconds.addingReportingOverflow(version.nanoseconds).partialValue
  }
}
