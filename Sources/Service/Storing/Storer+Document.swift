internal import FoundationEssentials
internal import ObjectStore
internal import SQLStore

extension Storer {
  /// Writes `recording.json`, after all objects that it lists, and notes it.
  func storeDocument(_ job: JobRecord, _ parts: [RecordedAttempt], path: ObjectKey) async throws {
    guard let key = path.appending(RecordingDocument.name) else {
      throw StoringError("The path of \(job.id) is too long.")
    }
    var document = RecordingDocument(
      job: job.id.text, kind: job.kind, project: job.project, room: job.room,
      labels: try await store.labels(of: [job.id])[job.id] ?? [:])
    document.describe(parts)
    try reached(.documentMade)
    let object: StoredObject
    do {
      object = try await objects.put(try document.json, at: key)
    } catch let error as ObjectStoreError where error.kind == .exists {
      // Another version of the program has written it, and was ended before it noted that. Readers may have seen it, so it counts.
      let bytes = try await objects.open(key).readAll(limit: RecordingDocument.maximumBytes)
      guard let found = RecordingDocument(parsing: bytes), found.job == job.id.text else { throw error }
      document = found
      object = StoredObject(bytes: Int64(bytes.count), sha256: ObjectDigest.hex(of: bytes))
    }
    try reached(.documentPut)
    let data = DocumentEventData(
      object: key.text, bytes: object.bytes, sha256: object.sha256, complete: document.complete,
      files: document.users.reduce(0) { $0 + $1.files.count }, objects: document.objects.count)
    try await store.noteManifest(of: job.id, event: try EventText.json(data)) { [reached] in
      try reached(.documentNoting)
    }
    try reached(.documentNoted)
  }
}

/// The data of `recording.finished`.
private struct DocumentEventData: Encodable {
  /// The key of `recording.json`.
  var object: String
  var bytes: Int64
  var sha256: String
  var complete: Bool
  /// The number of media files, and of all objects.
  var files: Int
  var objects: Int
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

enum EventText {
  /// Returns a value as one line of JSON.
  static func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }
}
