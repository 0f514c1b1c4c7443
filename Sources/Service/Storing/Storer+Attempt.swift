internal import JobProtocol
internal import Media
internal import ObjectStore
internal import SQLStore

extension Storer {
  /// Repairs and stores the folder of one attempt.
  ///
  /// - Returns: all that is known of it.
  func storeFolder(of attempt: AttemptRecord, job: JobRecord, path: ObjectKey) async throws -> RecordedAttempt {
    var part = RecordedAttempt(
      number: attempt.number, id: attempt.attemptID, version: attempt.version, start: attempt.startedAt,
      end: attempt.endedAt, how: attempt.how)
    let folder = folder(of: attempt)
    let rows = try await store.files(of: job.id).filter { $0.attempt == attempt.number }
    let noted = Dictionary(rows.map { (UntrustedText($0.name), $0) }, uniquingKeysWith: { first, _ in first })
    guard try await blocking({ folder.exists }) else {
      part.objects = rows.map { RecordingDocument.Object($0) }
      part.endedInOrder = false
      part.missing.append(
        RecordingDocument.Missing(name: "\(attempt.number)-\(attempt.attemptID)", reason: "The folder is gone."))
      return part
    }
    if try await blocking({ folder.isInUse }) { throw StoringError("The process of \(job.id) lives.") }
    let journal = try await blocking { folder.journal() }
    part.participants = journal.participants
    part.pauses = journal.pauses
    part.endedInOrder = journal.hasEnded
    try reached(.journalRead)

    try await repair(folder)
    let (files, manifests) = try await blocking { () throws in
      let files = try folder.files()
      return (files, folder.manifests(files))
    }
    part.manifests = manifests.map(\.manifest)
    try reached(.manifestsRead)

    let describer = FileDescriber(journal: journal, manifests: manifests, job: job.id, attempt: attempt.number)
    guard let prefix = path.appending("\(attempt.number)-\(KeyText.part(attempt.attemptID))") else {
      throw StoringError("The path of \(job.id) is too long.")
    }
    for file in files {
      let known = noted[UntrustedText(file.name)]
      let description = describer.describe(file.name)
      part.add(file, try await storeFile(file, description, known, below: prefix, attempt, hasEvent: true))
    }
    try await storeLog(of: folder, files, noted, below: prefix, attempt, into: &part)
    let found = Set(files.map { UntrustedText($0.name) })
    for name in describer.names.subtracting(found).sorted() {
      part.missing.append(RecordingDocument.Missing(name: name.string, reason: "The file is gone."))
    }
    try reached(.attemptStored)
    return part
  }

  private func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await BlockingWork.run("storing", niceness: 10, within: .seconds(300), body)
  }

  // MARK: Repair

  /// How often a repair is tried.
  private static let maximumRepairs = 3

  /// Repairs what was not finished. What cannot be repaired is stored as it is.
  private func repair(_ folder: RecordedFolder) async throws {
    for _ in 0..<Self.maximumRepairs {
      try await waitUntilUnused(folder)
      guard try await blocking({ try folder.needsRepair() }) else { return }
      try reached(.repairBegins)
      let bytes = try await blocking {
        try folder.files().reduce(0) { $0 + ((try? SourceFile(path: $1.path).size) ?? 0) }
      }
      let limit = settings.repairLimit + .seconds(bytes / 10_000_000)
      let words = settings.program + ["repair", "--quiet", "--", folder.media]
      let result = try await BlockingWork.run("repair", niceness: 10, within: limit + .seconds(60)) {
        try RepairProcess.run(words, within: limit)
      }
      try reached(.repairEnded)
      if result.exit == .code(0) { return }
    }
  }

  /// Waits while a repair goes on whose service has ended.
  private func waitUntilUnused(_ folder: RecordedFolder) async throws {
    let end = MonotonicInstant.now + settings.busyLimit
    while try await blocking({ try folder.isBeingWritten() }) {
      guard MonotonicInstant.now < end else {
        throw StoringError("A file in \(folder.media.printable(utf8Bytes: 300)) is being written.")
      }
      try await ServiceTimer.sleep(for: .milliseconds(200))
    }
  }

  // MARK: Files

  /// Puts a file into the store and notes it.
  ///
  /// - Parameter known: its row if it was noted before.
  private func storeFile(
    _ file: RecordedFolder.File, _ description: FileRecord, _ known: FileRecord?, below prefix: ObjectKey,
    _ attempt: AttemptRecord, hasEvent: Bool
  ) async throws -> StoredFile {
    if let known { return .stored(known) }
    try reached(.fileBegins)
    var record = description
    let source: SourceFile
    do {
      source = try await blocking { try SourceFile(path: file.path) }
    } catch let error as ObjectStoreError where error.kind == .missing || error.kind == .notAFile {
      return .missing(error.description)
    }
    // What is missing in the store, such as a folder or a disk, is no reason to do without the file.
    let (key, object) = try await put(source, file.name, below: prefix)
    try reached(.filePut)
    record.object = key.text
    record.bytes = object.bytes
    record.sha256 = object.sha256
    let event = hasEvent ? try FileEventData(record).json : nil
    try await store.note(record, ofAttempt: attempt.attemptID, event: event) { [reached] in try reached(.fileNoting) }
    try reached(.fileNoted)
    return .stored(record)
  }

  /// The number of keys that are tried where another content has been put under the key of a file.
  private static let maximumKeys = 9

  private func put(
    _ source: SourceFile, _ name: String, below prefix: ObjectKey
  ) async throws -> (key: ObjectKey, object: StoredObject) {
    let parts = name.split(separator: "/").map { KeyText.part(String($0)) }
    for number in 1...Self.maximumKeys {
      // A file that was changed after it was put is another object: the first one stays as it is.
      let folder = number == 1 ? [] : ["\(number)"]
      guard let key = ObjectKey(([prefix.text] + folder + parts).joined(separator: "/")) else { break }
      do {
        return (key, try await objects.put(source, at: key))
      } catch let error as ObjectStoreError where error.kind == .exists {}
    }
    throw StoringError("No key is free for \(name.printable(utf8Bytes: 200)).")
  }

  /// Stores the log of the process, without an event.
  private func storeLog(
    of folder: RecordedFolder, _ files: [RecordedFolder.File], _ noted: [UntrustedText: FileRecord],
    below prefix: ObjectKey,
    _ attempt: AttemptRecord, into part: inout RecordedAttempt
  ) async throws {
    var log = folder.log
    // A file of media may have its name.
    if files.contains(where: { $0.name == log.name }) { log.name = "process-\(log.name)" }
    let description = FileRecord(
      job: attempt.job, attempt: attempt.number, name: log.name, object: "", kind: "log", bytes: 0, sha256: "")
    let known = noted[UntrustedText(log.name)]
    let result = try await storeFile(log, description, known, below: prefix, attempt, hasEvent: false)
    // A process that ended at once has no log.
    if case .stored = result { part.add(log, result) }
  }
}

/// What became of a file.
enum StoredFile: Sendable, Hashable {
  case stored(FileRecord)
  /// A sentence says why it is not in the store.
  case missing(String)
}

extension RecordedAttempt {
  fileprivate mutating func add(_ file: RecordedFolder.File, _ result: StoredFile) {
    switch result {
    case .stored(let record): objects.append(RecordingDocument.Object(record))
    case .missing(let reason): missing.append(RecordingDocument.Missing(name: file.name, reason: reason))
    }
  }
}

extension RecordingDocument.Object {
  init(_ record: FileRecord) {
    self.init(
      name: record.name, object: record.object, kind: record.kind, bytes: record.bytes, sha256: record.sha256,
      attempt: record.attempt)
  }
}
