internal import Glibc
package import ObjectStore
package import SQLStore

/// Puts the files of jobs whose processes have ended into the object store, describes them by `recording.json`, and deletes
/// recordings.
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

    package init(data: String, program: [String]) {
      self.data = data
      self.program = program
    }
  }

  let store: JobStore
  let objects: any ObjectStore
  let settings: Settings
  let reached: @Sendable (StoringStep) throws -> Void
  private let slots: AsyncSlots

  /// - Parameter reached: called after each step; what it throws ends the call.
  package init(
    _ store: JobStore, objects: any ObjectStore, settings: Settings,
    reached: @escaping @Sendable (StoringStep) throws -> Void = { _ in }
  ) {
    self.store = store
    self.objects = objects
    self.settings = settings
    self.reached = reached
    slots = AsyncSlots(settings.maximumAtOnce)
  }

  /// Stores all that the attempts of a job have left behind, and removes their folders. The processes of the attempts must have ended.
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
        var parts: [RecordedAttempt] = []
        for attempt in attempts.sorted(by: { $0.number < $1.number }) {
          parts.append(try await storeFolder(of: attempt, job: record, path: path))
        }
        if parts.contains(where: \.isRecording) || record.kind == "record" {
          try await storeDocument(record, parts, path: path)
        }
      }
      for attempt in attempts { try await removeFolder(of: attempt) }
    }
  }

  /// Stores all attempts of a job that the database has.
  package func store(_ job: JobID) async throws {
    try await store(job, attempts: try await store.attempts(of: job))
  }

  private func objectPath(of job: JobRecord) async throws -> ObjectKey {
    let values = ObjectPathTemplate.Values(
      createdAt: job.createdAt, job: job.id.text, kind: job.kind, project: job.project, room: job.room)
    // Only a long room makes a path too long.
    let path = settings.template.path(values) ?? ObjectPathTemplate.standard.path(values)
    guard let path, let fixed = try await store.fixObjectPath(path.text, of: job.id), let key = ObjectKey(fixed) else {
      throw StoringError("The job \(job.id) has no path in the store.")
    }
    return key
  }

  func folder(of attempt: AttemptRecord) -> RecordedFolder {
    RecordedFolder(path: attempt.folder.hasPrefix("/") ? attempt.folder : "\(settings.data)/\(attempt.folder)")
  }

  private func removeFolder(of attempt: AttemptRecord) async throws {
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
