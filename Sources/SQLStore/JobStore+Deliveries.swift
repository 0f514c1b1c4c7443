/// Which deliveries of a project are listed. Nil: all.
package struct DeliveryFilter: Sendable, Hashable {
  package var state: DeliveryState?
  package var job: JobID?

  package init(state: DeliveryState? = nil, job: JobID? = nil) {
    self.state = state
    self.job = job
  }
}

/// The deliveries of all projects that are not ended.
package struct OutboxFigures: Sendable, Hashable {
  package var pending: Int64
  /// How old the oldest one is, in milliseconds; 0 if there is none.
  package var age: Int64
  /// How many are dead now: a replay and the deletion of their events make it less.
  package var dead: Int64

  package init(pending: Int64, age: Int64, dead: Int64) {
    self.pending = pending
    self.age = age
    self.dead = dead
  }
}

/// What becomes of a request to send a delivery again.
package enum Replay: Sendable, Hashable {
  case pending(DeliveryRecord)
  /// It has not ended: it is sent anyway.
  case notEnded(DeliveryRecord)
}

/// The outbox. Deliveries of a job and a receiver are tried in the order of their events: one is tried when none before it is pending.
/// One that somebody asked for again waits for all before it, and the others do not wait for it.
///
/// Several services may work on one outbox: each delivery is claimed by one of them, for a time.
extension JobStore {
  private static let columns = "deliveries.*, webhooks.url AS url, webhooks.secret AS secret"
  private static let withWebhook =
    "deliveries JOIN webhooks ON webhooks.job = deliveries.job AND webhooks.number = deliveries.webhook"

  /// Claims deliveries that are due.
  ///
  /// - Parameters:
  ///   - limit: how many at most.
  ///   - time: for how long, in milliseconds. After that, another one may claim them.
  ///   - origins: receivers that get nothing now.
  package func claimDeliveries(
    limit: Int, for time: Int64, notTo origins: [String] = []
  ) async throws -> [DueDelivery] {
    let claim = JobID.randomText(20)
    var parameters: [SQLValue] = [.text(claim), .integer(time), .integer(limit)]
    var exclusion = ""
    if !origins.isEmpty {
      let places = origins.indices.map { "$\($0 + 4)" }.joined(separator: ", ")
      parameters += origins.map { .text($0) }
      exclusion = """
        AND NOT EXISTS (SELECT 1 FROM webhooks WHERE webhooks.job = due.job AND webhooks.number = due.webhook
          AND webhooks.origin IN (\(places)))
        """
    }
    let claimed = try await connection.execute(
      """
      WITH claimable AS MATERIALIZED (
        SELECT event, webhook FROM deliveries AS due
        WHERE state = 'pending' AND next_at <= now_ms() AND claimed_until <= now_ms()
          AND NOT EXISTS (SELECT 1 FROM deliveries AS earlier
            WHERE earlier.job = due.job AND earlier.webhook = due.webhook AND earlier.state = 'pending'
              AND earlier.event < due.event
              AND (earlier.replays = 0 OR due.replays > 0))
          \(exclusion)
        ORDER BY next_at, event LIMIT $3 \(connection.dialect.forUpdateSkipLocked)
      )
      UPDATE deliveries SET claim = $1, claimed_until = now_ms() + $2
      WHERE state = 'pending' AND (event, webhook) IN (SELECT event, webhook FROM claimable)
      RETURNING event
      """, parameters)
    return claimed.isEmpty ? [] : try await due(claim: claim)
  }

  private func due(claim: String) async throws -> [DueDelivery] {
    let rows = try await connection.execute(
      """
      SELECT \(Self.columns), webhooks.origin AS origin, events.time AS time, events.data AS data, jobs.kind AS kind,
        jobs.room AS room
      FROM \(Self.withWebhook) JOIN events ON events.id = deliveries.event JOIN jobs ON jobs.id = deliveries.job
      WHERE deliveries.claim = $1 AND deliveries.state = 'pending' ORDER BY deliveries.event, deliveries.webhook
      """, [.text(claim)])
    let records = try rows.map { try DeliveryRecord($0) }
    let labels = try await labels(of: Array(Set(records.map(\.job))))
    return try zip(rows, records).map { row, record in
      DueDelivery(
        delivery: record, origin: try row.text("origin"), time: try row.integer("time"), data: try row.text("data"),
        kind: try row.text("kind"), room: try row.text("room"), labels: labels[record.job] ?? [:])
    }
  }

  /// Writes that the receiver has a message. Nothing changes if somebody else has claimed it meanwhile.
  ///
  /// - Returns: whether it was written.
  @discardableResult
  package func deliverySucceeded(_ delivery: DeliveryRecord, status: Int) async throws -> Bool {
    try await !connection.execute(
      """
      UPDATE deliveries SET state = 'delivered', tries = tries + 1, tried_at = now_ms(), ended_at = now_ms(), status = $4,
        error = NULL, claim = NULL, claimed_until = 0
      WHERE event = $1 AND webhook = $2 AND claim = $3 AND state = 'pending' RETURNING event
      """, Self.claimed(delivery) + [.integer(status)]
    ).isEmpty
  }

  /// Writes that a try failed. The delivery is dead if its next try would be too late.
  ///
  /// - Parameters:
  ///   - status: of the answer, if there was one.
  ///   - error: a sentence.
  ///   - delay: how long to wait for the next try, in milliseconds.
  /// - Returns: the state; nil if somebody else has claimed it meanwhile.
  @discardableResult
  package func deliveryFailed(
    _ delivery: DeliveryRecord, status: Int?, error: String, retryAfter delay: Int64
  ) async throws -> DeliveryState? {
    try await connection.transaction { transaction in
      let rows = try transaction.execute(
        """
        UPDATE deliveries SET tries = tries + 1, tried_at = now_ms(), status = $4, error = $5, claim = NULL,
          claimed_until = 0, next_at = now_ms() + $6,
          ended_at = CASE WHEN now_ms() + $6 > expires_at THEN now_ms() ELSE NULL END,
          state = CASE WHEN now_ms() + $6 > expires_at THEN 'dead' ELSE 'pending' END
        WHERE event = $1 AND webhook = $2 AND claim = $3 AND state = 'pending' RETURNING state, next_at
        """,
        Self.claimed(delivery) + [.integer(status.map { Int64($0) }), .text(error), .integer(delay)])
      guard let row = rows.first else { return nil }
      let state = DeliveryState(rawValue: try row.text("state")) ?? .pending
      if state == .pending, delivery.replays == 0 {
        // Those behind it wait as long, and are not looked at until then.
        try transaction.execute(
          """
          UPDATE deliveries SET next_at = $4
          WHERE job = $1 AND webhook = $2 AND state = 'pending' AND event > $3 AND replays = 0 AND next_at < $4
          """,
          [
            delivery.job.value, .integer(delivery.id.webhook), .integer(delivery.id.event),
            .integer(try row.integer("next_at")),
          ])
      } else if state == .dead {
        // The next one is due at once.
        try transaction.execute(
          """
          UPDATE deliveries SET next_at = now_ms()
          WHERE job = $1 AND webhook = $2 AND state = 'pending' AND event > $3 AND tries = 0 AND next_at > now_ms()
          """,
          [delivery.job.value, .integer(delivery.id.webhook), .integer(delivery.id.event)])
      }
      return state
    }
  }

  /// Writes that a receiver wants no more events of a job. What it was to be sent is not sent.
  ///
  /// - Returns: how many deliveries are not sent, with this one; 0 if somebody else has claimed it meanwhile.
  @discardableResult
  package func webhookGone(_ delivery: DeliveryRecord, status: Int) async throws -> Int {
    try await connection.transaction { transaction in
      let rows = try transaction.execute(
        """
        UPDATE deliveries SET tries = tries + 1, tried_at = now_ms(), status = $4
        WHERE event = $1 AND webhook = $2 AND claim = $3 AND state = 'pending' RETURNING event
        """, Self.claimed(delivery) + [.integer(status)])
      guard !rows.isEmpty else { return 0 }
      let webhook: [SQLValue] = [delivery.job.value, .integer(delivery.id.webhook)]
      try transaction.execute(
        "UPDATE webhooks SET disabled_at = COALESCE(disabled_at, now_ms()) WHERE job = $1 AND number = $2", webhook)
      return try transaction.execute(
        """
        UPDATE deliveries SET state = 'disabled', ended_at = now_ms(), error = $3, claim = NULL, claimed_until = 0
        WHERE job = $1 AND webhook = $2 AND state = 'pending' RETURNING event
        """, webhook + [.text("The receiver answered with 410: it wants no more events of this job.")]
      ).count
    }
  }

  /// Gives a claim back: the delivery was not tried, or the service ends.
  package func release(_ delivery: DeliveryRecord) async throws {
    try await connection.execute(
      """
      UPDATE deliveries SET claim = NULL, claimed_until = 0
      WHERE event = $1 AND webhook = $2 AND claim = $3 AND state = 'pending'
      """, Self.claimed(delivery))
  }

  private static func claimed(_ delivery: DeliveryRecord) -> [SQLValue] {
    [.integer(delivery.id.event), .integer(delivery.id.webhook), .text(delivery.claim)]
  }

  // MARK: What the API asks

  /// Returns deliveries of a project, newest first.
  ///
  /// - Parameter after: only deliveries that come after this one.
  package func deliveries(
    project: String, _ filter: DeliveryFilter = DeliveryFilter(), after: DeliveryID? = nil, limit: Int
  ) async throws -> [DeliveryRecord] {
    var parameters: [SQLValue] = [.text(project)]
    func parameter(_ value: SQLValue) -> String {
      parameters.append(value)
      return "$\(parameters.count)"
    }
    var conditions = ["deliveries.project = $1"]
    // Literal, so that the index of dead deliveries is used.
    if let state = filter.state { conditions.append("deliveries.state = '\(state.rawValue)'") }
    if let job = filter.job { conditions.append("deliveries.job = \(parameter(job.value))") }
    if let after {
      let (event, webhook) = (parameter(.integer(after.event)), parameter(.integer(after.webhook)))
      conditions.append(
        "(deliveries.event < \(event) OR (deliveries.event = \(event) AND deliveries.webhook > \(webhook)))")
    }
    return try await connection.execute(
      """
      SELECT \(Self.columns) FROM \(Self.withWebhook) WHERE \(conditions.joined(separator: " AND "))
      ORDER BY deliveries.event DESC, deliveries.webhook LIMIT \(parameter(.integer(limit)))
      """, parameters
    ).map { try DeliveryRecord($0) }
  }

  /// Sends a delivery that has ended once more, for as long as a new one.
  ///
  /// - Returns: nil if the project has no such delivery.
  package func replay(_ id: DeliveryID, project: String) async throws -> Replay? {
    try await connection.transaction { transaction in
      let key: [SQLValue] = [.integer(id.event), .integer(id.webhook), .text(project)]
      let changed = try transaction.execute(
        """
        UPDATE deliveries SET state = 'pending', tries = 0, replays = replays + 1, next_at = now_ms(),
          expires_at = now_ms() + $4, ended_at = NULL, claim = NULL, claimed_until = 0
        WHERE event = $1 AND webhook = $2 AND project = $3 AND state <> 'pending' RETURNING event
        """, key + [.integer(DeliveryRecord.lifetime)])
      let rows = try transaction.execute(
        """
        SELECT \(Self.columns) FROM \(Self.withWebhook)
        WHERE deliveries.event = $1 AND deliveries.webhook = $2 AND deliveries.project = $3
        """, key)
      guard let record = try rows.first.map({ try DeliveryRecord($0) }) else { return nil }
      return changed.isEmpty ? .notEnded(record) : .pending(record)
    }
  }

  /// Returns how many deliveries wait, and for how long.
  package func outbox() async throws -> OutboxFigures {
    let rows = try await connection.execute(
      """
      SELECT (SELECT COUNT(*) FROM deliveries WHERE state = 'pending') AS pending,
        COALESCE((SELECT now_ms() - MIN(created_at) FROM deliveries WHERE state = 'pending'), 0) AS age,
        (SELECT COUNT(*) FROM deliveries WHERE state = 'dead') AS dead
      """)
    guard let row = rows.first else { return OutboxFigures(pending: 0, age: 0, dead: 0) }
    return OutboxFigures(
      pending: try row.integer("pending"), age: max(0, try row.integer("age")), dead: try row.integer("dead"))
  }

  /// Returns the receivers of a job that asked for no more.
  package func disabledWebhooks(of job: JobID) async throws -> Set<Int64> {
    Set(
      try await connection.execute(
        "SELECT number FROM webhooks WHERE job = $1 AND disabled_at IS NOT NULL", [job.value]
      ).map { try $0.integer("number") })
  }
}
