/// A receiver of a job, as it is submitted.
package struct NewWebhook: Sendable, Hashable {
  package var url: String
  /// Scheme, host and port.
  package var origin: String
  package var events: [EventPattern]
  /// The name of a secret.
  package var secret: String

  package init(url: String, origin: String, events: [EventPattern], secret: String) {
    self.url = url
    self.origin = origin
    self.events = events
    self.secret = secret
  }
}

/// The id of a delivery: the event, and the number of the receiver in its job. As text `d17n0`.
package struct DeliveryID: Sendable, Hashable, CustomStringConvertible {
  package var event: Int64
  package var webhook: Int64

  package init(event: Int64, webhook: Int64) {
    self.event = event
    self.webhook = webhook
  }

  /// - Parameter text: nil for another text than ``description`` gives.
  package init?(_ text: String) {
    guard text.utf8.count <= 32, text.utf8.first == UInt8(ascii: "d") else { return nil }
    let parts = text.utf8.dropFirst().split(separator: UInt8(ascii: "n"), omittingEmptySubsequences: false)
    guard parts.count == 2, let event = Self.number(parts[0]), let webhook = Self.number(parts[1]) else { return nil }
    self.init(event: event, webhook: webhook)
    guard description == text else { return nil }
  }

  private static func number(_ digits: Substring.UTF8View) -> Int64? {
    guard (1...18).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(String(decoding: digits, as: UTF8.self))
  }

  package var description: String { "d\(event)n\(webhook)" }
}

package enum DeliveryState: String, Sendable, Hashable, CaseIterable {
  /// It is to be sent, for the first time or again.
  case pending
  /// The receiver answered with a 2xx.
  case delivered
  /// It was given up after 24 hours.
  case dead
  /// The receiver asked for no more.
  case disabled
}

/// A row of `deliveries`: an event for a receiver. Times are milliseconds since 1970 by the clock of the database.
package struct DeliveryRecord: Sendable, Hashable {
  package var id: DeliveryID
  package var project: String
  package var job: JobID
  /// That of the event.
  package var sequence: Int64
  package var type: String
  /// The attempt of the job at the time of the event; 0 before the first one.
  package var attempt: Int64
  package var state: DeliveryState
  /// How often it was tried.
  package var tries: Int64
  package var replays: Int64
  package var createdAt: Int64
  package var nextAt: Int64
  package var expiresAt: Int64
  package var claim: String?
  package var triedAt: Int64?
  package var endedAt: Int64?
  /// The status of the last answer, if the last try had one.
  package var status: Int64?
  /// Why the last try failed: a sentence.
  package var error: String?
  package var url: String
  package var secret: String

  /// How long an event is tried, in milliseconds.
  package static let lifetime: Int64 = 86_400_000

  /// - Parameter row: has all columns of `deliveries`, and `url` and `secret` of `webhooks`.
  package init(_ row: SQLRow) throws(SQLError) {
    id = DeliveryID(event: try row.integer("event"), webhook: try row.integer("webhook"))
    project = try row.text("project")
    job = try JobID(column: "job", of: row)
    sequence = try row.integer("sequence")
    type = try row.text("type")
    attempt = try row.integer("attempt")
    guard let state = DeliveryState(rawValue: try row.text("state")) else { throw .unexpected("state", row["state"]) }
    self.state = state
    tries = try row.integer("tries")
    replays = try row.integer("replays")
    createdAt = try row.integer("created_at")
    nextAt = try row.integer("next_at")
    expiresAt = try row.integer("expires_at")
    claim = try row.optionalText("claim")
    triedAt = try row.optionalInteger("tried_at")
    endedAt = try row.optionalInteger("ended_at")
    status = try row.optionalInteger("status")
    error = try row.optionalText("error")
    url = try row.text("url")
    secret = try row.text("secret")
  }
}

/// A delivery that is claimed, with what its message consists of.
package struct DueDelivery: Sendable, Hashable {
  package var delivery: DeliveryRecord
  /// The delivery's receiver: scheme, host and port.
  package var origin: String
  /// When the event was, and its data, a JSON object.
  package var time: Int64
  package var data: String
  package var kind: String
  package var room: String
  package var labels: [String: String]
}

extension SQLTransaction {
  /// Inserts a delivery of an event for each receiver that wants it, in the transaction of the event.
  ///
  /// - Parameter attempt: that of the job at this time.
  func insertDeliveries(of event: EventRecord, attempt: Int64) throws {
    let webhooks = try execute(
      "SELECT number, events FROM webhooks WHERE job = $1 AND disabled_at IS NULL ORDER BY number", [event.job.value])
    var isDelivered = false
    for webhook in webhooks {
      let patterns = EventPattern.patterns(in: try webhook.text("events"))
      guard patterns.contains(where: { $0.matches(event.type) }) else { continue }
      isDelivered = true
      // While one before it waits for its next try, there is nothing to do: so the newer one is not looked at until then.
      try execute(
        """
        INSERT INTO deliveries (event, webhook, project, job, sequence, type, attempt, state, created_at, next_at, expires_at)
        SELECT $1, $2, $3, $4, $5, $6, $7, 'pending', $8,
          (SELECT CASE WHEN MAX(next_at) > $8 THEN MAX(next_at) ELSE $8 END FROM deliveries
            WHERE job = $4 AND webhook = $2 AND state = 'pending' AND replays = 0),
          $9
        """,
        [
          .integer(event.id), .integer(try webhook.integer("number")), .text(event.project), event.job.value,
          .integer(event.sequence), .text(event.type), .integer(attempt), .integer(event.time),
          .integer(event.time + DeliveryRecord.lifetime),
        ])
    }
    // Most events have no receiver, and wake nobody.
    if isDelivered { try notify(.deliveries) }
  }
}
