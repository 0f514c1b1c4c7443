internal import FoundationEssentials
internal import ObjectStore
package import SQLStore

extension Storer {
  /// Writes `recording.json`, after all objects that it lists, and notes it.
  func storeDocument(_ job: JobRecord, _ parts: [RecordedAttempt], path: ObjectKey) async throws {
    guard let key = path.appending(RecordingDocument.name) else {
      throw StoringError("The path of \(job.id) is too long.")
    }
    let document = try await document(of: job, parts)
    try reached(.documentMade)
    let stored = try await put(document, at: key, of: job)
    try reached(.documentPut)
    let data = DocumentEventData(stored.document, stored.object, at: key)
    try await store.noteManifest(of: job.id, event: try EventText.json(data)) { [reached] in
      try reached(.documentNoting)
    }
    try reached(.documentNoted)
  }

  private func document(of job: JobRecord, _ parts: [RecordedAttempt]) async throws -> RecordingDocument {
    var document = RecordingDocument(
      job: job.id.text, kind: job.kind, project: job.project, room: job.room,
      labels: try await store.labels(of: [job.id])[job.id] ?? [:])
    document.describe(parts)
    return document
  }

  /// Puts a description into the store. One that is there already counts.
  private func put(
    _ document: RecordingDocument, at key: ObjectKey, of job: JobRecord
  ) async throws -> (document: RecordingDocument, object: StoredObject) {
    do {
      return (document, try await objects.put(try document.json, at: key))
    } catch let error as ObjectStoreError where error.kind == .exists {
      // Another version of the program has written it, and was ended before it noted that. Readers may have seen it, so it counts.
      let bytes = try await objects.open(key).readAll(limit: RecordingDocument.maximumBytes)
      guard let found = RecordingDocument(parsing: bytes), found.job == job.id.text else { throw error }
      return (found, StoredObject(bytes: Int64(bytes.count), sha256: ObjectDigest.hex(of: bytes)))
    }
  }

  // MARK: Amendments

  /// The number of descriptions of a recording.
  private static let maximumDocuments: Int64 = 1_000

  /// Stores what folders on this machine have of a job that ended without them, such as those of a node that was lost and has
  /// returned. If something is in no description, another one follows, `recording.2.json` and so on, with the event
  /// `recording.amended`. Then their folders are removed.
  ///
  /// - Throws: as ``store(_:attempts:)``. The call can be repeated.
  package func amend(_ job: JobID) async throws {
    try await slots.run { [self] in
      guard let record = try await store.storedJob(job), !record.deleted,
        record.state.isEnded || record.manifestStoredAt != nil
      else { return }
      var present: [AttemptRecord] = []
      let attempts = try await store.attempts(of: job)
      for attempt in attempts where isOfThisNode(attempt) {
        let folder = folder(of: attempt)
        if try await blocking({ folder.exists }) { present.append(attempt) }
      }
      let path = try await objectPath(of: record)
      for attempt in present where attempt.storedAt == nil {
        _ = try await storeFolder(of: attempt, job: record, path: path)
      }
      try await describeLate(record, present, path: path)
      unstored.remove(job)
      for attempt in present
      where settings.localRetention == nil
        || isLate(attempt, describedAt: record.manifestStoredAt, kind: record.kind)
      {
        try await removeFolder(of: attempt)
      }
    }
  }

  /// Whether an attempt of a job that has ended may be in no description: it was stored after the recording was described. Only
  /// ``amend(_:)`` removes its folder, since a call that was ended finds by it what is to be described.
  func isLate(_ attempt: AttemptRecord, of job: LocalJob) -> Bool {
    isLate(attempt, describedAt: job.manifestStoredAt, kind: job.kind)
  }

  private func isLate(_ attempt: AttemptRecord, describedAt: Int64?, kind: String) -> Bool {
    guard let describedAt else { return kind == "record" }
    return (attempt.storedAt ?? .max) >= describedAt
  }

  /// Writes a description of what the last one does not have.
  ///
  /// - Parameter present: the attempts whose folders are here.
  private func describeLate(_ job: JobRecord, _ present: [AttemptRecord], path: ObjectKey) async throws {
    let attempts = try await store.attempts(of: job.id)
    let own = Set(present.map(\.number))
    let isLate = attempts.contains { own.contains($0.number) && ($0.storedAt ?? 0) >= (job.manifestStoredAt ?? 0) }
    guard isLate else { return }
    let parts = try await storeFolders(of: attempts, job: job, path: path)
    if job.manifestStoredAt == nil {
      if parts.contains(where: \.isRecording) { try await storeDocument(job, parts, path: path) }
      return
    }
    let document = try await document(of: job, parts)
    var number = job.amendments + 1
    guard try await objectNames(of: number, path) != Set(document.objects.map(\.object)) else { return }
    while number < Self.maximumDocuments {
      number += 1
      guard let key = path.appending(RecordingDocument.name(number)) else { break }
      let stored = try await put(document, at: key, of: job)
      try reached(.documentPut)
      let data = DocumentEventData(stored.document, stored.object, at: key)
      try await store.noteAmendment(of: job.id, number: number, event: try EventText.json(data)) { [reached] in
        try reached(.documentNoting)
      }
      // One that another node wrote, or that was put before the service ended, may have less.
      if stored.document.objects == document.objects { return }
    }
    throw StoringError("The recording of \(job.id) has too many descriptions.")
  }

  /// The keys that a description lists; none if it is gone.
  private func objectNames(of number: Int64, _ path: ObjectKey) async throws -> Set<String> {
    guard let key = path.appending(RecordingDocument.name(number)) else { return [] }
    do {
      let bytes = try await objects.open(key).readAll(limit: RecordingDocument.maximumBytes)
      return Set(RecordingDocument(parsing: bytes)?.objects.map(\.object) ?? [])
    } catch let error as ObjectStoreError where error.kind == .missing {
      return []
    }
  }
}

/// The data of `recording.finished` and `recording.amended`.
private struct DocumentEventData: Encodable {
  /// The key of the description.
  var object: String
  var bytes: Int64
  var sha256: String
  var complete: Bool
  /// The number of media files, and of all objects.
  var files: Int
  var objects: Int

  init(_ document: RecordingDocument, _ object: StoredObject, at key: ObjectKey) {
    self.object = key.text
    bytes = object.bytes
    sha256 = object.sha256
    complete = document.complete
    files = document.users.reduce(0) { $0 + $1.files.count }
    objects = document.objects.count
  }
}

/// The data of `recording.file`.
struct FileEventData: Encodable {
  var name: String
  var object: String
  var kind: String
  var attempt: Int64
  var user: String?
  var stream: Int64?
  var segment: Int64?
  /// In UTC with milliseconds.
  var start: String?
  /// In seconds.
  var duration: Double?
  var bytes: Int64
  var sha256: String

  init(_ record: FileRecord) {
    name = record.name
    object = record.object
    kind = record.kind
    attempt = record.attempt
    user = record.user
    stream = record.stream
    segment = record.segment
    start = record.start.map { UTCTime(milliseconds: $0).text }
    duration = record.duration.map { Double($0) / 1_000 }
    bytes = record.bytes
    sha256 = record.sha256
  }

  var json: String { get throws { try EventText.json(self) } }
}

/// The data of `recording.conflict`.
struct ConflictEventData: Encodable {
  var attempt: Int64
  var name: String
  /// The key that another content has, which stays as it is.
  var taken: String
  /// The key that the file got.
  var object: String

  init(_ record: FileRecord, taken: String) {
    attempt = record.attempt
    name = record.name
    self.taken = taken
    object = record.object
  }

  var json: String { get throws { try EventText.json(self) } }
}

enum EventText {
  /// Returns a value as one line of JSON.
  static func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }
}
