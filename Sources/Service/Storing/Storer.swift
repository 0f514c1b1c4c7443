internal import Glibc
internal import JobProtocol
package import Logging
internal import Media
package import ObjectStore
package import SQLStore
internal import Synchronization

/// Puts the files of jobs into the object store, describes them by `recording.json`, and deletes recordings.
///
/// Each call may end at any point, with the service or by an error. The next call goes on: an object that is there is not
/// written again, a row that is there is not noted again, and `recording.json` comes last.
package final class Storer: Sendable {
  package struct Settings: Sendable {
    /// The folder of the service.
    package var data: String
    package var template = ObjectPathTemplate.standard
    /// The words with which `chatbot` is started.
    package var program: [String]
    /// How long a repair may take, beyond a second for each 10 MB.
    package var repairLimit = Duration.seconds(60)
    /// How long to wait for a repair of a service that has ended.
    package var busyLimit = Duration.seconds(60)
    /// The number of jobs that are stored at a time.
    package var maximumAtOnce = 4
    /// How long files stay on this machine after they were stored, in milliseconds; nil for a store on this machine: then they are
    /// removed at once.
    package var localRetention: Int64?
    /// The room that is kept free for the database on a disk that is full of files that wait, in bytes; nil: none.
    package var spareBytes: Int64?
    /// The name of this node among several with one database; nil: all folders are here.
    package var node: String?
    /// After how many milliseconds without a sign a node counts as lost.
    package var nodeLossTimeout: Int64 = 3_600_000

    package init(data: String, program: [String]) {
      self.data = data
      self.program = program
    }
  }

  /// A try to put a file into the store.
  package struct Upload: Sendable, Hashable {
    package enum Status: String, Sendable, Hashable, CaseIterable {
      case stored, conflict, full, timeout, refused, failed
    }

    package var status: Status
    package var bytes: Int64
    package var duration: Duration
  }

  let store: JobStore
  let objects: any ObjectStore
  let settings: Settings
  let uploaded: @Sendable (Upload) -> Void
  let reached: @Sendable (StoringStep) throws -> Void
  let logger: Logger
  /// What is complete on this machine and not stored.
  package let unstored = UnstoredFiles()
  let slots: AsyncSlots
  let spare: SpareSpace?
  let fileLocks = KeyedLocks<UnstoredFiles.Name>()
  let attemptLocks = KeyedLocks<String>()
  /// The files whose keys are too long, of which the log says so once.
  let refusedKeys = Mutex<Set<UnstoredFiles.Name>>([])

  /// - Parameters:
  ///   - reached: called after each step; what it throws ends the call.
  ///   - uploaded: called after each try to store a file.
  package init(
    _ store: JobStore, objects: any ObjectStore, settings: Settings,
    reached: @escaping @Sendable (StoringStep) throws -> Void = { _ in },
    uploaded: @escaping @Sendable (Upload) -> Void = { _ in },
    logger: Logger = Logger(label: "chatbot") { _ in SwiftLogNoOpLogHandler() }
  ) {
    self.store = store
    self.objects = objects
    self.settings = settings
    self.uploaded = uploaded
    self.reached = reached
    self.logger = logger
    slots = AsyncSlots(settings.maximumAtOnce)
    spare = settings.spareBytes.map { SpareSpace(folder: "\(settings.data)/spare", bytes: $0) }
  }

  /// Stores all that the attempts of a job have left behind, and removes their folders, unless they stay for some time. The processes
  /// of the attempts must have ended.
  ///
  /// A job that recorded gets `recording.json` and the events `recording.file` and `recording.finished`. Of another one the log and
  /// reports are stored.
  ///
  /// - Throws: a ``StoringError``, an `ObjectStoreError` or an `SQLError`. The call can be repeated.
  package func store(_ job: JobID, attempts: [AttemptRecord]) async throws {
    try await slots.run { [self] in
      try reached(.begun)
      guard let record = try await store.storedJob(job) else { throw StoringError("There is no job \(job).") }
      if record.manifestStoredAt == nil, !record.deleted {
        let path = try await objectPath(of: record)
        try reached(.pathFixed)
        let parts = try await storeFolders(of: attempts, job: record, path: path)
        if parts.contains(where: \.isRecording) || record.kind == "record" {
          try await storeDocument(record, parts, path: path)
        }
      }
      unstored.remove(job)
      guard settings.localRetention == nil || record.deleted else { return }
      // A recording that another node described may lack a folder that is here.
      let stored = Set(try await store.attempts(of: job).filter { $0.storedAt != nil }.map(\.attemptID))
      for attempt in attempts where record.deleted || stored.contains(attempt.attemptID) {
        try await removeFolder(of: attempt)
      }
    }
  }

  /// Stores all attempts of a job that the database has.
  package func store(_ job: JobID) async throws {
    try await store(job, attempts: try await store.attempts(of: job))
  }

  /// Stores all files of an attempt of this node that has ended, while a later one may run, and removes its folder, unless it stays for
  /// some time. If the recording is described already, another description follows: see ``amend(_:)``.
  ///
  /// - Throws: as ``store(_:attempts:)``.
  package func storeAttempt(_ attempt: AttemptRecord, of job: JobID) async throws {
    guard let record = try await store.storedJob(job), !record.deleted, isOfThisNode(attempt) else { return }
    let folder = folder(of: attempt)
    guard try await blocking({ folder.exists }) else {
      guard attempt.storedAt == nil else { return }
      // Nobody waits for files that nobody has.
      return try await store.noteStored(attempt, description: try await missing(attempt, record).json)
    }
    if record.state.isEnded || record.manifestStoredAt != nil { return try await amend(job) }
    _ = try await storeFolder(of: attempt, job: record, path: try await objectPath(of: record))
    if settings.localRetention == nil { try await removeFolder(of: attempt) }
  }

  /// Stores an attempt by its id; nothing happens if the database has no such attempt.
  func storeAttempt(_ job: JobID, id attemptID: String) async throws {
    if let attempt = try await store.attempts(of: job).first(where: { $0.attemptID == attemptID }) {
      try await storeAttempt(attempt, of: job)
    }
  }

  /// Stores one file that the journal of an attempt says is closed. The process may live.
  ///
  /// - Throws: as ``store(_:attempts:)``; of the kind `missing` or `notAFile` if the file cannot be read.
  package func storeClosedFile(_ file: AttemptFile) async throws {
    let name = file.closed.name
    // The journal comes from a process that strangers send to: no name leads out of the folder.
    guard let first = name.utf8.first, first != UInt8(ascii: "."), !name.utf8.contains(UInt8(ascii: "/")),
      !name.utf8.contains(0)
    else { throw StoringError("\(name.printable(utf8Bytes: 200)) is no name of a file.") }
    let known = try await store.file(name, attempt: file.attempt, of: file.job)
    guard known == nil, let job = try await store.storedJob(file.job), !job.deleted else {
      return unstored.remove(file.unstoredName)
    }
    let path = try await objectPath(of: job)
    let folder = RecordedFolder(path: file.folder.hasPrefix("/") ? file.folder : "\(settings.data)/\(file.folder)")
    var journal = RecordedFolder.Journal()
    journal.closedFiles[UntrustedText(name)] = file.closed
    let describer = FileDescriber(journal: journal, manifests: [], job: file.job, attempt: file.attempt)
    _ = try await storeFile(
      RecordedFolder.File(name: name, path: "\(folder.media)/\(name)"), describer.describe(name), nil,
      below: try prefix(of: file.attempt, file.attemptID, path), attemptID: file.attemptID, closed: file.closed)
  }

  func objectPath(of job: JobRecord) async throws -> ObjectKey {
    let values = ObjectPathTemplate.Values(
      createdAt: job.createdAt, job: job.id.text, kind: job.kind, project: job.project, room: job.room)
    // Only a long room, or a long prefix of the store, makes a path too long.
    let limit = objects.maximumKeyBytes - Self.bytesOfNames
    let template = settings.template.path(values).flatMap { $0.text.utf8.count <= limit ? $0 : nil }
    let path = template ?? ObjectPathTemplate.standard.path(values)
    guard let path, let fixed = try await store.fixObjectPath(path.text, of: job.id), let key = ObjectKey(fixed) else {
      throw StoringError("The job \(job.id) has no path in the store.")
    }
    return key
  }

  /// What the names of files, with the attempt, take at most of a key, in bytes.
  private static let bytesOfNames = 512

  /// The prefix of the objects of an attempt.
  func prefix(of attempt: Int64, _ attemptID: String, _ path: ObjectKey) throws -> ObjectKey {
    guard let prefix = path.appending("\(attempt)-\(KeyText.part(attemptID))") else {
      throw StoringError("The path \(path) is too long.")
    }
    return prefix
  }

  func folder(of attempt: AttemptRecord) -> RecordedFolder {
    RecordedFolder(path: attempt.folder.hasPrefix("/") ? attempt.folder : "\(settings.data)/\(attempt.folder)")
  }

  func removeFolder(of attempt: AttemptRecord) async throws {
    let folder = folder(of: attempt)
    try await BlockingWork.run("remove folder", within: .seconds(120)) {
      try FolderListing.remove(folder.path)
      // The folder of the job, once all of its attempts are gone.
      if let parent = folder.parent { rmdir(parent) }
    }
    try reached(.folderRemoved)
  }
}

extension RecordedAttempt {
  /// Whether the attempt has recorded somebody.
  var isRecording: Bool { !manifests.isEmpty }
}
