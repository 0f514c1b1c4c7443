extension SQLSchema {
  /// Several services, called nodes, with one database.
  static let secondVersion = [
    // `identity` is that of the node's data folder. `draining` is what an operator asked for, `stopping` that the node ends.
    // `capacity` is a JSON object.
    """
    CREATE TABLE nodes (
      name TEXT PRIMARY KEY,
      identity TEXT NOT NULL,
      advertise TEXT,
      version TEXT NOT NULL,
      started_at BIGINT NOT NULL,
      seen_at BIGINT NOT NULL,
      draining BIGINT NOT NULL DEFAULT 0,
      stopping BIGINT NOT NULL DEFAULT 0,
      capacity TEXT NOT NULL DEFAULT '{}'
    )
    """,
    // `node` is the node that has the job, and `lease_until` the time until which no other node takes it. `handover_at` is when
    // the node offered it to the others. `amendments` counts the documents after `recording.json`.
    "ALTER TABLE jobs ADD COLUMN node TEXT",
    "ALTER TABLE jobs ADD COLUMN lease_until BIGINT",
    "ALTER TABLE jobs ADD COLUMN handover_at BIGINT",
    "ALTER TABLE jobs ADD COLUMN amendments BIGINT NOT NULL DEFAULT 0",
    "CREATE INDEX jobs_unfinished ON jobs (created_at, id) WHERE ended_at IS NULL",
    "CREATE INDEX jobs_node ON jobs (node) WHERE ended_at IS NULL",
    // `clock_offset` is the clock of the node less that of the database when the attempt began, `clock_error` how wrong that may
    // be, both in milliseconds. `joined_at` is when the room was joined, `keyframes` an array of the users of whom there is
    // video. `taken_over` is whether another node took the job because the lease had ended. `stored_at` is when the last of the
    // files was stored, and `description` what is known of the attempt then, a JSON object.
    "ALTER TABLE attempts ADD COLUMN node TEXT",
    "ALTER TABLE attempts ADD COLUMN clock_offset BIGINT",
    "ALTER TABLE attempts ADD COLUMN clock_error BIGINT",
    "ALTER TABLE attempts ADD COLUMN joined_at BIGINT",
    "ALTER TABLE attempts ADD COLUMN keyframes TEXT",
    "ALTER TABLE attempts ADD COLUMN taken_over BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE attempts ADD COLUMN stored_at BIGINT",
    "ALTER TABLE attempts ADD COLUMN description TEXT",
    "CREATE INDEX attempts_unstored ON attempts (node) WHERE stored_at IS NULL",
  ]
}
