/// A job that is submitted.
package struct NewJob: Sendable {
  package var id: JobID
  package var project: String
  /// As in `JobKind`.
  package var kind: String
  package var state: JobState
  /// A `PauseState` as JSON.
  package var paused: String
  /// What was submitted, as JSON, without secrets.
  package var request: String
  package var room: String
  package var server: String
  package var uniqueKey: String?
  /// Milliseconds since 1970.
  package var startAt: Int64?
  /// How long it waits for capacity, in milliseconds, from its submission or from `startAt` if that is later.
  package var queueFor: Int64
  package var labels: [String: String]
  /// Who gets the events of the job.
  package var webhooks: [NewWebhook]
  /// Encrypted.
  package var secrets: [UInt8]?
  package var idempotency: Idempotency?
  /// The node that has room for it and begins it at once; nil: any node claims it when it is due.
  package var node: String?

  package struct Idempotency: Sendable, Hashable {
    package var key: String
    /// 64 hexadecimal digits, of a digest that tells nothing about secrets in the body without a key.
    package var bodySHA256: String

    package init(key: String, bodySHA256: String) {
      self.key = key
      self.bodySHA256 = bodySHA256
    }

    /// How long a key is kept, in milliseconds: 24 hours.
    package static let lifetime: Int64 = 86_400_000
  }

  package init(
    id: JobID, project: String, kind: String, state: JobState, paused: String, request: String, room: String,
    server: String, uniqueKey: String? = nil, startAt: Int64? = nil, queueFor: Int64 = 0,
    labels: [String: String] = [:], webhooks: [NewWebhook] = [], secrets: [UInt8]? = nil,
    idempotency: Idempotency? = nil
  ) {
    self.id = id
    self.project = project
    self.kind = kind
    self.state = state
    self.paused = paused
    self.request = request
    self.room = room
    self.server = server
    self.uniqueKey = uniqueKey
    self.startAt = startAt
    self.queueFor = queueFor
    self.labels = labels
    self.webhooks = webhooks
    self.secrets = secrets
    self.idempotency = idempotency
  }
}

/// What became of a submitted job.
package enum Submission: Sendable, Hashable {
  case created(JobRecord)
  /// The same body was submitted before with the same key.
  case replayed(JobRecord)
  /// Another body was submitted before with the same key.
  case bodyDiffers
  /// This job has the same `uniqueKey` and has not ended.
  case keyTaken(JobID)
}

extension JobStore {
  /// Stores a new job, unless its idempotency key or its `uniqueKey` stands for another one.
  ///
  /// - Throws: an `SQLError`.
  package func submit(_ job: NewJob) async throws -> Submission {
    for attempt in 1... {
      do {
        return try await connection.transaction { [lease] transaction in
          if let known = try Self.conflict(with: job, in: transaction) { return known }
          let record = try Self.insert(job, lease: lease, in: transaction)
          // A job that a node has begins there, and one that is scheduled is looked for when it is due.
          if record.node == nil, record.state == .queued { try transaction.notify(.jobs) }
          return .created(record)
        }
      } catch let error as SQLError where error.kind == .constraint && attempt < 5 {
        // Another transaction has taken the key since this one looked for it; now it is seen.
        continue
      }
    }
    throw SQLError(.other, "The job was not stored.")
  }

  /// Looks for what keeps a job from being stored, without storing it.
  ///
  /// - Returns: `replayed`, `bodyDiffers` or `keyTaken`; nil if nothing does.
  package func conflict(with job: NewJob) async throws -> Submission? {
    try await connection.transaction { transaction in try Self.conflict(with: job, in: transaction) }
  }

  private static func conflict(with job: NewJob, in transaction: any SQLTransaction) throws -> Submission? {
    if let known = try replay(of: job, in: transaction) { return known }
    guard let key = job.uniqueKey else { return nil }
    let taken = try transaction.execute(
      "SELECT id FROM jobs WHERE project = $1 AND unique_key = $2 AND ended_at IS NULL",
      [.text(job.project), .text(key)])
    return try taken.first.map { .keyTaken(try JobID(column: "id", of: $0)) }
  }

  /// Looks for what was submitted with an idempotency key, without submitting anything.
  ///
  /// - Returns: `replayed` or `bodyDiffers`; nil if the key is new.
  package func submission(of idempotency: NewJob.Idempotency, project: String) async throws -> Submission? {
    try await connection.transaction { transaction in
      try Self.replay(of: idempotency, project: project, in: transaction)
    }
  }

  private static func replay(of job: NewJob, in transaction: any SQLTransaction) throws -> Submission? {
    guard let idempotency = job.idempotency else { return nil }
    return try replay(of: idempotency, project: job.project, in: transaction)
  }

  private static func replay(
    of idempotency: NewJob.Idempotency, project: String, in transaction: any SQLTransaction
  ) throws -> Submission? {
    let rows = try transaction.execute(
      "SELECT body_sha256, job FROM idempotency WHERE project = $1 AND key = $2 AND created_at > now_ms() - $3",
      [.text(project), .text(idempotency.key), .integer(NewJob.Idempotency.lifetime)])
    guard let row = rows.first else { return nil }
    guard try row.text("body_sha256") == idempotency.bodySHA256 else { return .bodyDiffers }
    let job = try transaction.execute("SELECT * FROM jobs WHERE id = $1", [.text(try row.text("job"))])
    return try job.first.map { .replayed(try JobRecord($0)) }
  }

  private static func insert(
    _ job: NewJob, lease: Int64, in transaction: any SQLTransaction
  ) throws -> JobRecord {
    let rows = try transaction.execute(
      """
      INSERT INTO jobs (id, project, kind, state, paused, request, room, server, unique_key, created_at, start_at,
        queue_until, secrets, node, lease_until)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now_ms(), $10,
        CASE WHEN $10 > now_ms() THEN $10 ELSE now_ms() END + $11, $12, $13, now_ms() + $14) RETURNING *
      """,
      [
        job.id.value, .text(job.project), .text(job.kind), .text(job.state.rawValue), .text(job.paused),
        .text(job.request), .text(job.room), .text(job.server), .text(job.uniqueKey), .integer(job.startAt),
        .integer(job.queueFor), .blob(job.secrets), .text(job.node), .integer(lease),
      ])
    for (name, value) in job.labels.sorted(by: { $0.key < $1.key }) {
      try transaction.execute(
        "INSERT INTO labels (job, name, value) VALUES ($1, $2, $3)", [job.id.value, .text(name), .text(value)])
    }
    for (number, webhook) in job.webhooks.enumerated() {
      try transaction.execute(
        "INSERT INTO webhooks (job, number, url, origin, events, secret) VALUES ($1, $2, $3, $4, $5, $6)",
        [
          job.id.value, .integer(number), .text(webhook.url), .text(webhook.origin),
          .text(EventPattern.text(webhook.events)), .text(webhook.secret),
        ])
    }
    if let idempotency = job.idempotency {
      // One that has expired makes room; one that another transaction has inserted meanwhile stays, and is in the way.
      try transaction.execute(
        "DELETE FROM idempotency WHERE project = $1 AND key = $2 AND created_at <= now_ms() - $3",
        [.text(job.project), .text(idempotency.key), .integer(NewJob.Idempotency.lifetime)])
      try transaction.execute(
        "INSERT INTO idempotency (project, key, body_sha256, job, created_at) VALUES ($1, $2, $3, $4, now_ms())",
        [.text(job.project), .text(idempotency.key), .text(idempotency.bodySHA256), job.id.value])
    }
    guard let row = rows.first else { throw SQLError(.other, "The job was not stored.") }
    return try JobRecord(row)
  }

  /// Forgets idempotency keys that have expired.
  package func forgetExpiredKeys() async throws {
    try await connection.execute(
      "DELETE FROM idempotency WHERE created_at <= now_ms() - $1", [.integer(NewJob.Idempotency.lifetime)])
  }
}
