/// A row of `files`: a file that is in the object store.
package struct FileRecord: Sendable, Hashable {
  package var job: JobID
  package var attempt: Int64
  /// The name of the file, unique within the attempt.
  package var name: String
  /// The key of the object.
  package var object: String
  /// `webm`, `mkv`, `ogg` or `mka` for media files; `manifest`, `chat`, `summary`, `report`, `log` or `other`.
  package var kind: String
  /// The id of the user, of media files and manifests of users.
  package var user: String?
  package var stream: Int64?
  package var segment: Int64?
  /// Milliseconds since 1970, of media files.
  package var start: Int64?
  /// Milliseconds, of media files.
  package var duration: Int64?
  package var bytes: Int64
  /// 64 hexadecimal digits.
  package var sha256: String
  package var storedAt: Int64

  package init(
    job: JobID, attempt: Int64, name: String, object: String, kind: String, user: String? = nil, stream: Int64? = nil,
    segment: Int64? = nil, start: Int64? = nil, duration: Int64? = nil, bytes: Int64, sha256: String,
    storedAt: Int64 = 0
  ) {
    self.job = job
    self.attempt = attempt
    self.name = name
    self.object = object
    self.kind = kind
    self.user = user
    self.stream = stream
    self.segment = segment
    self.start = start
    self.duration = duration
    self.bytes = bytes
    self.sha256 = sha256
    self.storedAt = storedAt
  }

  /// - Parameter row: has all columns of `files`.
  package init(_ row: SQLRow) throws(SQLError) {
    job = try JobID(column: "job", of: row)
    attempt = try row.integer("attempt")
    name = try row.text("name")
    object = try row.text("object")
    kind = try row.text("kind")
    user = try row.optionalText("user_id")
    stream = try row.optionalInteger("stream")
    segment = try row.optionalInteger("segment")
    start = try row.optionalInteger("start")
    duration = try row.optionalInteger("duration")
    bytes = try row.integer("bytes")
    sha256 = try row.text("sha256")
    storedAt = try row.integer("stored_at")
  }
}
