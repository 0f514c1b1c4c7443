/// Which jobs of a project are listed. Empty or nil: all.
package struct JobFilter: Sendable, Hashable {
  package var states: [JobState] = []
  /// As in `JobKind`.
  package var kinds: [String] = []
  package var room: String?
  package var labels: [String: String] = [:]
  /// Milliseconds since 1970.
  package var createdAfter: Int64?

  package init() {}
}

/// The position of a job in a list, newest first.
package struct JobPosition: Sendable, Hashable {
  package var createdAt: Int64
  package var id: JobID

  package init(createdAt: Int64, id: JobID) {
    self.createdAt = createdAt
    self.id = id
  }
}

/// The position of a file in the list of a job's files.
package struct FilePosition: Sendable, Hashable {
  package var attempt: Int64
  package var name: String

  package init(attempt: Int64, name: String) {
    self.attempt = attempt
    self.name = name
  }
}

extension JobStore {
  /// Returns a job of a project; nil if the project has none with this id.
  package func job(_ id: JobID, project: String) async throws -> JobRecord? {
    let rows = try await connection.execute(
      "SELECT * FROM jobs WHERE id = $1 AND project = $2", [id.value, .text(project)])
    return try rows.first.map { try JobRecord($0) }
  }

  /// Returns jobs of a project, newest first.
  ///
  /// - Parameter after: only jobs that come after this one.
  package func jobs(
    project: String, _ filter: JobFilter = JobFilter(), after: JobPosition? = nil, limit: Int
  ) async throws -> [JobRecord] {
    var parameters: [SQLValue] = []
    func parameter(_ value: SQLValue) -> String {
      parameters.append(value)
      return "$\(parameters.count)"
    }
    var conditions = ["project = \(parameter(.text(project)))"]
    if !filter.states.isEmpty {
      let states = filter.states.map { parameter(.text($0.rawValue)) }
      conditions.append("state IN (\(states.joined(separator: ", ")))")
    }
    if !filter.kinds.isEmpty {
      let kinds = filter.kinds.map { parameter(.text($0)) }
      conditions.append("kind IN (\(kinds.joined(separator: ", ")))")
    }
    if let room = filter.room { conditions.append("room = \(parameter(.text(room)))") }
    if let time = filter.createdAfter { conditions.append("created_at > \(parameter(.integer(time)))") }
    for (name, value) in filter.labels.sorted(by: { $0.key < $1.key }) {
      let (name, value) = (parameter(.text(name)), parameter(.text(value)))
      conditions.append(
        "EXISTS (SELECT 1 FROM labels WHERE labels.job = jobs.id AND labels.name = \(name) AND labels.value = \(value))"
      )
    }
    if let after {
      let (time, id) = (parameter(.integer(after.createdAt)), parameter(after.id.value))
      conditions.append("(created_at < \(time) OR (created_at = \(time) AND id < \(id)))")
    }
    let rows = try await connection.execute(
      """
      SELECT * FROM jobs WHERE \(conditions.joined(separator: " AND "))
      ORDER BY created_at DESC, id DESC LIMIT \(parameter(.integer(limit)))
      """, parameters)
    return try rows.map { try JobRecord($0) }
  }

  /// Returns the labels of jobs.
  package func labels(of jobs: [JobID]) async throws -> [JobID: [String: String]] {
    guard !jobs.isEmpty else { return [:] }
    let places = (1...jobs.count).map { "$\($0)" }.joined(separator: ", ")
    let rows = try await connection.execute("SELECT * FROM labels WHERE job IN (\(places))", jobs.map(\.value))
    var labels: [JobID: [String: String]] = [:]
    for row in rows {
      labels[try JobID(column: "job", of: row), default: [:]][try row.text("name")] = try row.text("value")
    }
    return labels
  }

  /// Returns the ids of a project's jobs that have not ended.
  package func unfinishedIDs(project: String) async throws -> Set<JobID> {
    let rows = try await connection.execute(
      "SELECT id FROM jobs WHERE project = $1 AND ended_at IS NULL", [.text(project)])
    return Set(try rows.map { try JobID(column: "id", of: $0) })
  }

  /// Returns how many jobs there are in each state.
  package func countsByState() async throws -> [JobState: Int64] {
    let rows = try await connection.execute("SELECT state, COUNT(*) AS count FROM jobs GROUP BY state")
    var counts: [JobState: Int64] = [:]
    for row in rows {
      if let state = JobState(rawValue: try row.text("state")) { counts[state] = try row.integer("count") }
    }
    return counts
  }

  /// Returns how many jobs have ended for each reason, also those that were forgotten.
  package func countsByReason() async throws -> [String: Int64] {
    let rows = try await connection.execute(
      "SELECT reason, COUNT(*) AS count FROM jobs WHERE ended_at IS NOT NULL AND reason IS NOT NULL GROUP BY reason")
    let pruned = try await counters(below: Self.prunedEnds)
    return Dictionary(try rows.map { (try $0.text("reason"), try $0.integer("count")) } + pruned) { $0 + $1 }
  }

  /// Returns how many processes were started for all jobs, also for those that were forgotten.
  package func attemptCount() async throws -> Int64 {
    let pruned = try await counters(below: Self.prunedAttempts).reduce(0) { $0 + $1.value }
    let kept = try await connection.execute("SELECT COUNT(*) AS count FROM attempts").first?.integer("count") ?? 0
    return kept + pruned
  }

  /// Returns events of a project, or of one of its jobs, in the order of their ids.
  ///
  /// - Parameter after: only events with a greater id.
  package func events(
    project: String, job: JobID? = nil, after: Int64 = 0, limit: Int
  ) async throws -> [EventRecord] {
    let rows: [SQLRow]
    if let job {
      rows = try await connection.execute(
        "SELECT * FROM events WHERE project = $1 AND job = $2 AND id > $3 ORDER BY sequence LIMIT $4",
        [.text(project), job.value, .integer(after), .integer(limit)])
    } else {
      rows = try await connection.execute(
        "SELECT * FROM events WHERE project = $1 AND id > $2 ORDER BY id LIMIT $3",
        [.text(project), .integer(after), .integer(limit)])
    }
    return try rows.map { try EventRecord($0) }
  }

  /// Returns the id of the newest event of all projects; 0 if there is none.
  package func newestEvent() async throws -> Int64 {
    try await connection.execute("SELECT value FROM counters WHERE name = $1", [.text(SQLCounter.events.rawValue)])
      .first?.integer("value") ?? 0
  }

  /// Stores a command for a job that has not ended.
  ///
  /// - Parameter argument: a JSON object.
  /// - Returns: the command, and the job as it was; the command is nil if the job has ended. Nil if the project has no such job.
  package func request(
    _ kind: CommandRecord.Kind, of job: JobID, project: String, argument: String = "{}"
  ) async throws -> (command: CommandRecord?, job: JobRecord)? {
    try await connection.transaction { transaction in
      let rows = try transaction.execute(
        "SELECT * FROM jobs WHERE id = $1 AND project = $2 \(transaction.dialect.forUpdate)",
        [job.value, .text(project)])
      guard let record = try rows.first.map({ try JobRecord($0) }) else { return nil }
      if record.state.isEnded { return (nil, record) }
      let command = try transaction.execute(
        """
        INSERT INTO commands (id, job, kind, argument, created_at) VALUES ($1, $2, $3, $4, now_ms()) RETURNING *
        """,
        [.integer(try transaction.next(.commands)), job.value, .text(kind.rawValue), .text(argument)])
      return (try command.first.map { try CommandRecord($0) }, record)
    }
  }

  package func command(_ id: Int64) async throws -> CommandRecord? {
    try await connection.execute("SELECT * FROM commands WHERE id = $1", [.integer(id)]).first.map {
      try CommandRecord($0)
    }
  }

  /// Returns the stored files of a job, in the order of attempts and names.
  package func files(of job: JobID) async throws -> [FileRecord] {
    try await connection.execute("SELECT * FROM files WHERE job = $1 ORDER BY attempt, name", [job.value]).map {
      try FileRecord($0)
    }
  }

  /// Returns some of the stored files of a job, in the order of attempts and names.
  ///
  /// - Parameter after: only files that come after this one.
  package func files(of job: JobID, after: FilePosition?, limit: Int) async throws -> [FileRecord] {
    try await connection.execute(
      """
      SELECT * FROM files WHERE job = $1 AND (attempt > $2 OR attempt = $2 AND name > $3)
      ORDER BY attempt, name LIMIT $4
      """,
      [job.value, .integer(after?.attempt ?? 0), .text(after?.name ?? ""), .integer(limit)]
    ).map { try FileRecord($0) }
  }

  /// Asks for the deletion of a recording; it is deleted when the job has ended.
  package func requestDeletion(of job: JobID) async throws {
    try await connection.execute(
      "UPDATE jobs SET delete_requested_at = COALESCE(delete_requested_at, now_ms()) WHERE id = $1", [job.value])
  }

  /// Returns the attempts of a job, the newest last.
  package func attempts(of job: JobID) async throws -> [AttemptRecord] {
    try await connection.execute("SELECT * FROM attempts WHERE job = $1 ORDER BY number", [job.value]).map {
      try AttemptRecord($0)
    }
  }
}
