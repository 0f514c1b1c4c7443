extension JobStore {
  /// Fixes the prefix of a recording's keys. It never changes after the first call, whatever the template is later.
  ///
  /// - Parameter path: the prefix if the job has none yet.
  /// - Returns: the prefix; nil if there is no such job.
  package func fixObjectPath(_ path: String, of job: JobID) async throws -> String? {
    try await connection.execute(
      "UPDATE jobs SET object_path = COALESCE(object_path, $2) WHERE id = $1 RETURNING object_path",
      [job.value, .text(path)]
    ).first?.text("object_path")
  }

  /// Notes that a file is in the object store, in one transaction with its event. A file that is noted already, or that is not of
  /// the attempt with this id, changes nothing.
  ///
  /// - Parameters:
  ///   - event: the data of the event `recording.file`, a JSON object; nil for no event.
  ///   - conflicts: the data of events `recording.conflict` that come before it.
  ///   - check: called before the transaction ends.
  /// - Returns: whether it was noted now.
  @discardableResult
  package func note(
    _ file: FileRecord, ofAttempt attemptID: String, event: String?, conflicts: [String] = [],
    check: @escaping @Sendable () throws -> Void = {}
  ) async throws -> Bool {
    try await connection.transaction { transaction in
      let rows = try transaction.execute(
        """
        INSERT INTO files
          (job, attempt, name, object, kind, user_id, stream, segment, start, duration, bytes, sha256, stored_at)
        SELECT job, number, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, now_ms() FROM attempts
        WHERE job = $1 AND number = $2 AND attempt_id = $3
        ON CONFLICT DO NOTHING RETURNING name
        """,
        [
          file.job.value, .integer(file.attempt), .text(attemptID), .text(file.name), .text(file.object),
          .text(file.kind), .text(file.user), .integer(file.stream), .integer(file.segment), .integer(file.start),
          .integer(file.duration), .integer(file.bytes), .text(file.sha256),
        ])
      if !rows.isEmpty {
        for data in conflicts { try transaction.append(.recordingConflict, of: file.job, data: data) }
      }
      if !rows.isEmpty, let event { try transaction.append(.recordingFile, of: file.job, data: event) }
      try check()
      return !rows.isEmpty
    }
  }

  /// Notes that `recording.json` is in the object store, in one transaction with the event `recording.finished`. A second call changes
  /// nothing.
  ///
  /// - Parameters:
  ///   - event: the data of the event, a JSON object.
  ///   - check: called before the transaction ends.
  /// - Returns: whether it was noted now.
  @discardableResult
  package func noteManifest(
    of job: JobID, event: String, check: @escaping @Sendable () throws -> Void = {}
  ) async throws -> Bool {
    try await connection.transaction { transaction in
      let rows = try transaction.execute(
        "UPDATE jobs SET manifest_stored_at = now_ms() WHERE id = $1 AND manifest_stored_at IS NULL RETURNING id",
        [job.value])
      if !rows.isEmpty { try transaction.append(.recordingFinished, of: job, data: event) }
      try check()
      return !rows.isEmpty
    }
  }

  /// Returns the row of a file that is in the object store; nil if it is not noted.
  package func file(_ name: String, attempt: Int64, of job: JobID) async throws -> FileRecord? {
    try await connection.execute(
      "SELECT * FROM files WHERE job = $1 AND attempt = $2 AND name = $3",
      [job.value, .integer(attempt), .text(name)]
    ).first.map { try FileRecord($0) }
  }

  /// Returns a job, whatever its project is.
  package func storedJob(_ job: JobID) async throws -> JobRecord? {
    try await connection.execute("SELECT * FROM jobs WHERE id = $1", [job.value]).first.map { try JobRecord($0) }
  }

  // MARK: Deletion

  /// Asks for the deletion of all recordings of jobs that ended longer ago than `age` milliseconds.
  ///
  /// - Returns: how many there are.
  @discardableResult
  package func expireRecordings(age: Int64) async throws -> Int {
    try await connection.execute(
      """
      UPDATE jobs SET delete_requested_at = now_ms()
      WHERE ended_at <= now_ms() - $1 AND manifest_stored_at IS NOT NULL AND delete_requested_at IS NULL AND deleted = 0 RETURNING id
      """, [.integer(age)]
    ).count
  }

  /// Returns the jobs that have ended and whose recordings are to be deleted, those that were asked for first.
  package func deletionsToDo(limit: Int) async throws -> [JobRecord] {
    try await connection.execute(
      """
      SELECT * FROM jobs WHERE delete_requested_at IS NOT NULL AND deleted = 0 AND ended_at IS NOT NULL
      ORDER BY delete_requested_at, id LIMIT $1
      """, [.integer(limit)]
    ).map { try JobRecord($0) }
  }

  /// Notes that a recording is deleted, in one transaction with the event `recording.deleted`. A second call changes nothing.
  ///
  /// - Parameter check: called before the transaction ends.
  package func noteDeletion(of job: JobID, check: @escaping @Sendable () throws -> Void = {}) async throws {
    try await connection.transaction { transaction in
      let rows = try transaction.execute(
        "UPDATE jobs SET deleted = 1 WHERE id = $1 AND deleted = 0 RETURNING id", [job.value])
      if !rows.isEmpty {
        try transaction.execute("DELETE FROM files WHERE job = $1", [job.value])
        try transaction.append(.recordingDeleted, of: job)
      }
      try check()
    }
  }
}
