internal import JobProtocol
internal import Logging
internal import Media
internal import ObjectStore
internal import SQLStore
internal import Synchronization

extension Storer {
  /// Stores the folders of attempts, one after the other.
  ///
  /// - Returns: all that is known of them, in the order of their numbers.
  func storeFolders(
    of attempts: [AttemptRecord], job: JobRecord, path: ObjectKey
  ) async throws -> [RecordedAttempt] {
    var parts: [RecordedAttempt] = []
    for attempt in attempts.sorted(by: { $0.number < $1.number }) {
      parts.append(try await storeFolder(of: attempt, job: job, path: path))
    }
    return parts
  }

  /// Repairs and stores the folder of one attempt, and notes what is known of it, unless that was done before.
  ///
  /// - Returns: all that is known of it.
  func storeFolder(of attempt: AttemptRecord, job: JobRecord, path: ObjectKey) async throws -> RecordedAttempt {
    try await attemptLocks.run(attempt.attemptID) { [self] in
      // The process that held the lock may have stored it.
      let attempt = try await store.attempts(of: job.id).first { $0.number == attempt.number } ?? attempt
      if let part = RecordedAttempt(stored: attempt) { return part }
      let folder = folder(of: attempt)
      guard isOfThisNode(attempt), try await blocking({ folder.exists }) else { return try await missing(attempt, job) }
      let part = try await store(folder, of: attempt, job: job, path: path)
      try await store.noteStored(attempt, description: try part.json)
      unstored.remove(attempt: attempt.attemptID)
      try reached(.attemptStored)
      return part
    }
  }

  /// Whether the folder of an attempt is on this machine, if anywhere.
  func isOfThisNode(_ attempt: AttemptRecord) -> Bool {
    guard let node = attempt.node, let own = settings.node else { return true }
    return node.utf8.elementsEqual(own.utf8)
  }

  private func store(
    _ folder: RecordedFolder, of attempt: AttemptRecord, job: JobRecord, path: ObjectKey
  ) async throws -> RecordedAttempt {
    if try await blocking({ folder.isInUse }) { throw StoringError("The process of \(job.id) lives.") }
    let journal = try await blocking { folder.journal() }
    try reached(.journalRead)

    try await repair(folder)
    let (files, manifests) = try await blocking { () throws in
      let files = try folder.files()
      return (files, folder.manifests(files))
    }
    try reached(.manifestsRead)

    let rows = try await store.files(of: job.id).filter { $0.attempt == attempt.number }
    let noted = Dictionary(rows.map { (UntrustedText($0.name), $0) }, uniquingKeysWith: { first, _ in first })
    var part = RecordedAttempt(attempt, journal: journal, manifests: manifests.map(\.manifest))
    let describer = FileDescriber(journal: journal, manifests: manifests, job: job.id, attempt: attempt.number)
    let prefix = try prefix(of: attempt.number, attempt.attemptID, path)
    let now = MonotonicInstant.now
    for file in files where noted[UntrustedText(file.name)] == nil {
      let bytes = try await blocking { file.size }
      let name = UnstoredFiles.Name(attemptID: attempt.attemptID, name: UntrustedText(file.name))
      unstored.add(name, of: job.id, bytes: bytes, since: now)
    }
    for file in files {
      let known = noted[UntrustedText(file.name)]
      let description = describer.describe(file.name)
      part.add(file, try await storeFile(file, description, known, below: prefix, attemptID: attempt.attemptID))
    }
    // Files whose copy on this machine was removed.
    let found = Set(files.map { UntrustedText($0.name) })
    part.objects += rows.filter { $0.kind != "log" && !found.contains(UntrustedText($0.name)) }
      .map { RecordingDocument.Object($0) }
    try await storeLog(of: folder, files, noted, below: prefix, attempt, into: &part)
    for name in describer.names.subtracting(found).subtracting(noted.keys).sorted() {
      part.missing.append(RecordingDocument.Missing(name: name.string, reason: "The file is gone."))
    }
    return part
  }

  func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
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
      let bytes = try await blocking { try folder.files().reduce(0) { $0 + $1.size } }
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
  /// - Parameters:
  ///   - known: its row if it was noted before.
  ///   - closed: what the journal says of a file that is stored while its process may live.
  func storeFile(
    _ file: RecordedFolder.File, _ description: FileRecord, _ known: FileRecord?, below prefix: ObjectKey,
    attemptID: String, closed: JournalEvent.ClosedFile? = nil
  ) async throws -> StoredFile {
    let name = UnstoredFiles.Name(attemptID: attemptID, name: UntrustedText(file.name))
    if let known {
      unstored.remove(name)
      return .stored(known)
    }
    return try await fileLocks.run(name) { [self] in
      // The process that held the lock may have stored it.
      if let known = try await store.file(file.name, attempt: description.attempt, of: description.job) {
        unstored.remove(name)
        return .stored(known)
      }
      try reached(.fileBegins)
      let source: SourceFile
      do {
        source = try await blocking {
          let locked = try SourceFile(path: file.path)
          // What is closed does not change. A repair of its folder does not wait for the store.
          return closed == nil ? locked : try SourceFile(path: file.path, locks: false)
        }
      } catch let error as ObjectStoreError where error.kind == .missing || error.kind == .notAFile {
        if closed != nil { throw error }
        unstored.remove(name)
        return .missing(error.description)
      }
      if let closed, closed.bytes != source.size {
        throw StoringError("\(file.name.printable(utf8Bytes: 200)) has changed since it was closed.")
      }
      // What is missing in the store, such as a folder or a disk, is no reason to do without the file.
      let put: PutFile
      do {
        put = try await self.put(source, file.name, below: prefix, of: description.job)
      } catch let error as ObjectStoreError where error.kind == .keyTooLong {
        // Trying again changes nothing: the rest of the recording is stored, and its description says what is missing.
        // The end of the job tries what was refused while it ran.
        if refusedKeys.withLock({ $0.insert(name).inserted }) {
          logger.error("\(error.description)", metadata: ["job": "\(description.job)"])
        }
        unstored.remove(name)
        return .missing(error.description)
      }
      let (key, object) = (put.key, put.object)
      try reached(.filePut)
      var record = description
      record.object = key.text
      record.bytes = object.bytes
      record.sha256 = object.sha256
      let event = record.kind == "log" ? nil : try FileEventData(record).json
      let conflicts = try put.conflicts.map { try ConflictEventData(record, taken: $0.text).json }
      try await note(record, ofAttempt: attemptID, event: event, conflicts: conflicts)
      unstored.remove(name)
      try reached(.fileNoted)
      return .stored(record)
    }
  }

  /// Notes a file. Where the disk has no room for that, some of the spare room is given up. The copies of what is noted make more, of
  /// which the spare room is taken first, before a recorder has it.
  private func note(
    _ record: FileRecord, ofAttempt attemptID: String, event: String?, conflicts: [String]
  ) async throws {
    func note() async throws {
      try await store.note(record, ofAttempt: attemptID, event: event, conflicts: conflicts) { [reached] in
        try reached(.fileNoting)
      }
    }
    do {
      try await note()
    } catch let error as SQLError where error.kind == .full && spare?.release() == true {
      try await note()
      try await removeLocalCopies { true }
      if let spare { try await blocking { spare.reserve() } }
    }
  }

  /// The number of keys that are tried where another content has been put under the key of a file.
  private static let maximumKeys = 9

  /// A file that is in the store.
  private struct PutFile: Sendable {
    var key: ObjectKey
    var object: StoredObject
    /// The keys before it that another content has.
    var conflicts: [ObjectKey]
  }

  private func put(
    _ source: SourceFile, _ name: String, below prefix: ObjectKey, of job: JobID
  ) async throws -> PutFile {
    let parts = name.split(separator: "/").map { KeyText.part(String($0)) }
    var conflicts: [ObjectKey] = []
    for number in 1...Self.maximumKeys {
      // A file that was changed after it was put is another object: the first one stays as it is.
      let folder = number == 1 ? [] : ["\(number)"]
      guard let key = ObjectKey(([prefix.text] + folder + parts).joined(separator: "/")) else {
        throw ObjectStoreError(
          .keyTooLong, "The key of \(name.printable(utf8Bytes: 200)) has more than \(ObjectKey.maximumBytes) bytes.")
      }
      if let object = try await put(source, at: key) {
        return PutFile(key: key, object: object, conflicts: conflicts)
      }
      conflicts.append(key)
      logger.error(
        "The object \(key) exists and has another content, which stays; the file gets another key",
        metadata: ["job": "\(job)"])
    }
    throw StoringError("No key is free for \(name.printable(utf8Bytes: 200)).")
  }

  /// - Returns: nil if another content has the key.
  private func put(_ source: SourceFile, at key: ObjectKey) async throws -> StoredObject? {
    let start = MonotonicInstant.now
    do {
      let object = try await objects.put(source, at: key)
      uploaded(Upload(status: .stored, bytes: object.bytes, duration: .now - start))
      return object
    } catch let error as ObjectStoreError {
      uploaded(Upload(status: Upload.Status(error.kind), bytes: 0, duration: .now - start))
      guard error.kind == .exists else { throw error }
      return nil
    }
  }

  /// Stores the log of the process, without an event.
  private func storeLog(
    of folder: RecordedFolder, _ files: [RecordedFolder.File], _ noted: [UntrustedText: FileRecord],
    below prefix: ObjectKey, _ attempt: AttemptRecord, into part: inout RecordedAttempt
  ) async throws {
    var log = folder.log
    // A file of media may have its name.
    if files.contains(where: { $0.name == log.name }) { log.name = "process-\(log.name)" }
    let description = FileRecord(
      job: attempt.job, attempt: attempt.number, name: log.name, object: "", kind: "log", bytes: 0, sha256: "")
    let known = noted[UntrustedText(log.name)]
    let result = try await storeFile(log, description, known, below: prefix, attemptID: attempt.attemptID)
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

extension Storer.Upload.Status {
  init(_ kind: ObjectStoreError.Kind) {
    self =
      switch kind {
      case .exists: .conflict
      case .full: .full
      case .timeout: .timeout
      case .refused: .refused
      case .missing, .notAFile, .busy, .keyTooLong, .storage: .failed
      }
  }
}

extension RecordedAttempt {
  /// - Parameter manifests: of the attempt's recordings.
  init(_ attempt: AttemptRecord, journal: RecordedFolder.Journal, manifests: [RecordedManifest]) {
    self.init(
      number: attempt.number, id: attempt.attemptID, version: attempt.version, start: attempt.startedAt,
      end: attempt.endedAt, how: attempt.how, endedInOrder: journal.hasEnded)
    node = attempt.node
    clockOffset = attempt.clockOffset
    clockError = attempt.clockError
    isNodeLost = attempt.isTakenOver
    participants = journal.participants
    pauses = journal.pauses
    self.manifests = manifests
  }

  /// What was noted when the attempt was stored; nil if it was not.
  init?(stored attempt: AttemptRecord) {
    guard attempt.storedAt != nil, let text = attempt.description else { return nil }
    self.init(json: text)
  }

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
