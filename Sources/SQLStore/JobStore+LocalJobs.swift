/// A job as a node finds it that has a folder of one of its attempts.
package struct LocalJob: Sendable, Hashable {
  package var id: JobID
  /// As in `JobKind`.
  package var kind: String
  package var endedAt: Int64?
  /// When `recording.json` was stored.
  package var manifestStoredAt: Int64?
  package var deleted: Bool
  /// In the order of their numbers, without their descriptions.
  package var attempts: [AttemptRecord]

  package var isEnded: Bool { endedAt != nil }
}

/// What a node asks about the folders that it has: a statement for many of them, since there may be thousands.
extension JobStore {
  /// The number of jobs of a statement.
  private static let localJobsAtOnce = 1_000

  /// Returns those of some jobs that the database has and that have an attempt, and the time of the database in milliseconds since
  /// 1970; no time if there are none.
  package func localJobs(_ ids: [JobID]) async throws -> (now: Int64?, jobs: [LocalJob]) {
    var now: Int64?
    var jobs: [JobID: LocalJob] = [:]
    for rows in try await pages(of: ids, Self.localStatement) {
      for row in rows {
        let id = try JobID(column: "job", of: row)
        if now == nil { now = try row.integer("now") }
        if jobs[id] == nil {
          jobs[id] = LocalJob(
            id: id, kind: try row.text("job_kind"), endedAt: try row.optionalInteger("job_ended_at"),
            manifestStoredAt: try row.optionalInteger("job_manifest_stored_at"), deleted: try row.truth("job_deleted"),
            attempts: [])
        }
        jobs[id]?.attempts.append(try AttemptRecord(row))
      }
    }
    return (now, ids.compactMap { jobs[$0] })
  }

  /// Returns the files of jobs that are in the object store, by job.
  package func files(of ids: [JobID]) async throws -> [JobID: [FileRecord]] {
    let statement: (String) -> String = {
      "SELECT * FROM files WHERE job IN (\($0)) ORDER BY job, attempt, name"
    }
    let files = try await pages(of: ids, statement).joined().map { try FileRecord($0) }
    return Dictionary(grouping: files, by: \.job)
  }

  private static func localStatement(_ places: String) -> String {
    """
    SELECT now_ms() AS now, jobs.kind AS job_kind, jobs.ended_at AS job_ended_at,
      jobs.manifest_stored_at AS job_manifest_stored_at, jobs.deleted AS job_deleted,
      attempts.job, attempts.number, attempts.attempt_id, attempts.version, attempts.folder, attempts.journal_seq,
      attempts.started_at, attempts.ended_at, attempts.how, attempts.node, attempts.clock_offset, attempts.clock_error,
      attempts.taken_over, attempts.stored_at, NULL AS description
    FROM attempts JOIN jobs ON jobs.id = attempts.job WHERE attempts.job IN (\(places)) ORDER BY attempts.job, attempts.number
    """
  }

  private func pages(of ids: [JobID], _ statement: (String) -> String) async throws -> [[SQLRow]] {
    var pages: [[SQLRow]] = []
    var rest = ids[...]
    while !rest.isEmpty {
      let some = rest.prefix(Self.localJobsAtOnce)
      rest = rest.dropFirst(some.count)
      let places = (1...some.count).map { "$\($0)" }.joined(separator: ", ")
      pages.append(try await connection.execute(statement(places), some.map(\.value)))
    }
    return pages
  }
}
