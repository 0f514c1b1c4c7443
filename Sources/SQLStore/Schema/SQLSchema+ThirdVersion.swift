extension SQLSchema {
  /// The receivers of jobs, and what they are to be sent.
  static let thirdVersion = [
    // `number` is from 0. `origin` is scheme, host and port of `url`. `events` are patterns with spaces between them, `secret` the name
    // of a secret. `disabled_at` is when the receiver asked for no more.
    """
    CREATE TABLE webhooks (
      job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
      number BIGINT NOT NULL,
      url TEXT NOT NULL,
      origin TEXT NOT NULL,
      events TEXT NOT NULL,
      secret TEXT NOT NULL,
      disabled_at BIGINT,
      PRIMARY KEY (job, number)
    )
    """,

    // A delivery goes with its event. `sequence` and `type` are those of the event, `attempt` is that of the job at that time. `next_at`
    // is when it is tried next, `expires_at` when it is given up, `claim` who tries it at the moment, which ends at `claimed_until`.
    // `replays` is how often somebody asked for it again.
    """
    CREATE TABLE deliveries (
      event BIGINT NOT NULL REFERENCES events (id) ON DELETE CASCADE,
      webhook BIGINT NOT NULL,
      project TEXT NOT NULL,
      job TEXT NOT NULL,
      sequence BIGINT NOT NULL,
      type TEXT NOT NULL,
      attempt BIGINT NOT NULL,
      state TEXT NOT NULL,
      tries BIGINT NOT NULL DEFAULT 0,
      replays BIGINT NOT NULL DEFAULT 0,
      created_at BIGINT NOT NULL,
      next_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      claim TEXT,
      claimed_until BIGINT NOT NULL DEFAULT 0,
      tried_at BIGINT,
      ended_at BIGINT,
      status BIGINT,
      error TEXT,
      PRIMARY KEY (event, webhook)
    )
    """,
    "CREATE INDEX deliveries_due ON deliveries (next_at) WHERE state = 'pending'",
    "CREATE INDEX deliveries_order ON deliveries (job, webhook, event) WHERE state = 'pending'",
    "CREATE INDEX deliveries_created ON deliveries (created_at) WHERE state = 'pending'",
    "CREATE INDEX deliveries_project ON deliveries (project, event)",
    "CREATE INDEX deliveries_dead ON deliveries (project, event) WHERE state = 'dead'",
    "CREATE INDEX deliveries_job ON deliveries (job, event)",
  ]
}
