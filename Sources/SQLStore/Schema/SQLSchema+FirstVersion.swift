extension SQLSchema {
  /// Times are milliseconds since 1970 by the clock of the database. Durations are milliseconds.
  static let firstVersion = [
    """
    CREATE TABLE counters (
      name TEXT PRIMARY KEY,
      value BIGINT NOT NULL
    )
    """,
    "INSERT INTO counters (name, value) VALUES ('events', 0)",
    "INSERT INTO counters (name, value) VALUES ('commands', 0)",

    // `paused` is a `PauseState` as JSON, `request` what was submitted, without secrets. `attempt_id` is that of the attempt
    // that may write. `stop_reason` is why the job is asked to end. `event_sequence` is that of the job's last event.
    // `manifest_stored_at` is when `recording.json` was stored, `delete_requested_at` when somebody, or the retention,
    // asked for the deletion of the recording, and `deleted` whether it is gone.
    """
    CREATE TABLE jobs (
      id TEXT PRIMARY KEY,
      project TEXT NOT NULL,
      kind TEXT NOT NULL,
      state TEXT NOT NULL,
      paused TEXT NOT NULL,
      request TEXT NOT NULL,
      room TEXT NOT NULL,
      server TEXT NOT NULL,
      unique_key TEXT,
      created_at BIGINT NOT NULL,
      start_at BIGINT,
      queue_until BIGINT,
      started_at BIGINT,
      ended_at BIGINT,
      stop_reason TEXT,
      reason TEXT,
      sentence TEXT,
      attempt BIGINT NOT NULL DEFAULT 0,
      attempt_id TEXT,
      attempt_started_at BIGINT,
      failures BIGINT NOT NULL DEFAULT 0,
      next_attempt_at BIGINT,
      stalled BIGINT NOT NULL DEFAULT 0,
      secrets BYTEA,
      object_path TEXT,
      manifest_stored_at BIGINT,
      delete_requested_at BIGINT,
      deleted BIGINT NOT NULL DEFAULT 0,
      event_sequence BIGINT NOT NULL DEFAULT 0
    )
    """,
    "CREATE UNIQUE INDEX jobs_unique_key ON jobs (project, unique_key) WHERE unique_key IS NOT NULL AND ended_at IS NULL",
    "CREATE INDEX jobs_project ON jobs (project, created_at, id)",
    "CREATE INDEX jobs_state ON jobs (state)",
    "CREATE INDEX jobs_manifest ON jobs (manifest_stored_at) WHERE deleted = 0",

    """
    CREATE TABLE labels (
      job TEXT NOT NULL REFERENCES jobs (id),
      name TEXT NOT NULL,
      value TEXT NOT NULL,
      PRIMARY KEY (job, name)
    )
    """,
    "CREATE INDEX labels_value ON labels (name, value)",

    """
    CREATE TABLE idempotency (
      project TEXT NOT NULL,
      key TEXT NOT NULL,
      body_sha256 TEXT NOT NULL,
      job TEXT NOT NULL REFERENCES jobs (id),
      created_at BIGINT NOT NULL,
      PRIMARY KEY (project, key)
    )
    """,
    "CREATE INDEX idempotency_created ON idempotency (created_at)",

    // `journal_seq` is the last line of the attempt's journal whose effect is in the database. `how` is how it ended.
    """
    CREATE TABLE attempts (
      job TEXT NOT NULL REFERENCES jobs (id),
      number BIGINT NOT NULL,
      attempt_id TEXT NOT NULL,
      version TEXT NOT NULL,
      folder TEXT NOT NULL,
      journal_seq BIGINT NOT NULL DEFAULT 0,
      started_at BIGINT NOT NULL,
      ended_at BIGINT,
      how TEXT,
      PRIMARY KEY (job, number)
    )
    """,

    // The ids are those of the counter: see `SQLTransaction.next`.
    """
    CREATE TABLE events (
      id BIGINT PRIMARY KEY,
      project TEXT NOT NULL,
      job TEXT NOT NULL REFERENCES jobs (id),
      sequence BIGINT NOT NULL,
      type TEXT NOT NULL,
      time BIGINT NOT NULL,
      data TEXT NOT NULL
    )
    """,
    "CREATE UNIQUE INDEX events_job ON events (job, sequence)",
    "CREATE INDEX events_project ON events (project, id)",

    """
    CREATE TABLE commands (
      id BIGINT PRIMARY KEY,
      job TEXT NOT NULL REFERENCES jobs (id),
      kind TEXT NOT NULL,
      argument TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      done_at BIGINT,
      result TEXT
    )
    """,
    "CREATE INDEX commands_job ON commands (job, id)",
    "CREATE INDEX commands_waiting ON commands (id) WHERE done_at IS NULL",

    // `object` is the key in the object store. `user_id`, `stream`, `segment`, `start` and `duration` are those of media files.
    """
    CREATE TABLE files (
      job TEXT NOT NULL REFERENCES jobs (id),
      attempt BIGINT NOT NULL,
      name TEXT NOT NULL,
      object TEXT NOT NULL,
      kind TEXT NOT NULL,
      user_id TEXT,
      stream BIGINT,
      segment BIGINT,
      start BIGINT,
      duration BIGINT,
      bytes BIGINT NOT NULL,
      sha256 TEXT NOT NULL,
      stored_at BIGINT NOT NULL,
      PRIMARY KEY (job, attempt, name)
    )
    """,
    "CREATE UNIQUE INDEX files_object ON files (object)",
  ]
}
