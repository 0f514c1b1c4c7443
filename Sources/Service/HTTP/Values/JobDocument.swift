package import JSON
package import JobProtocol
package import SQLStore

/// The JSON of what the API returns. Pure.
package enum APIDocument {
  /// A job, without secrets.
  package static func job(_ record: JobRecord, labels: [String: String]? = nil) -> JSONValue {
    let request = try? JobRequest(stored: record.request)
    let paused = (try? JSONReader.decode(PauseState.self, from: record.paused, within: pauseLimits)) ?? .none
    var fields: [String: JSONValue] = [
      "id": .text(record.id.text), "project": .text(record.project), "kind": .text(record.kind),
      "state": .text(record.state.rawValue), "paused": pause(paused), "server": .text(record.server),
      "room": .text(record.room.isEmpty ? nil : record.room), "user": .text(request?.user),
      "labels": .object((labels ?? request?.labels ?? [:]).mapValues { .text($0) }),
      "uniqueKey": .text(record.uniqueKey), "createdAt": .time(record.createdAt), "startAt": .time(record.startAt),
      "startedAt": .time(record.startedAt), "endedAt": .time(record.endedAt), "reason": .text(record.reason),
      "sentence": .text(record.sentence), "attempt": .whole(record.attempt), "stalled": .bool(record.stalled),
      "recordingFinishedAt": .time(record.manifestStoredAt), "deleted": .bool(record.deleted),
    ]
    fields["queueFor"] = .text(duration(request?.queueFor ?? 0))
    fields["webhooks"] = .array((request?.webhooks ?? []).map(webhook))
    fields["options"] = .object(request?.options ?? [:])
    let end = request?.end ?? JobEnd()
    fields["end"] = .object([
      "duration": .text(end.duration.map(duration)), "emptyFor": .text(end.emptyFor.map(duration)),
      "nobodyWithin": .text(end.nobodyWithin.map(duration)),
    ])
    return .object(fields)
  }

  private static let pauseLimits = JSONLimits(bytes: 4 << 20, values: 10_000, depth: 4)

  private static func duration(_ milliseconds: Int64) -> String {
    milliseconds.isMultiple(of: 1_000) ? "\(milliseconds / 1_000)s" : "\(milliseconds)ms"
  }

  package static func pause(_ state: PauseState) -> JSONValue {
    .object([
      "all": .bool(state.all), "users": .array(state.users.map { .text($0) }),
      "resumedUsers": .array(state.resumedUsers.map { .text($0) }),
    ])
  }

  private static func webhook(_ webhook: WebhookRequest) -> JSONValue {
    .object([
      "url": .text(webhook.url), "events": .array(webhook.events.map { .text($0.description) }),
      "secret": .text(webhook.secret),
    ])
  }

  package static func delivery(_ record: DeliveryRecord) -> JSONValue {
    .object([
      "id": .text(record.id.description), "job": .text(record.job.text),
      "event": .text(Cursor.text(event: record.id.event)), "sequence": .whole(record.sequence),
      "type": .text(record.type), "url": .text(record.url), "secret": .text(record.secret),
      "state": .text(record.state.rawValue), "tries": .whole(record.tries), "replays": .whole(record.replays),
      "createdAt": .time(record.createdAt), "triedAt": .time(record.triedAt),
      "nextAt": .time(record.state == .pending ? record.nextAt : nil), "endedAt": .time(record.endedAt),
      "status": .whole(record.status), "error": .text(record.error),
    ])
  }

  package static func event(_ record: EventRecord) -> JSONValue {
    .object([
      "id": .text(Cursor.text(event: record.id)), "job": .text(record.job.text), "sequence": .whole(record.sequence),
      "type": .text(record.type), "time": .time(record.time), "data": parsed(record.data),
    ])
  }

  /// A JSON object of the database; an empty one if it cannot be read.
  static func parsed(_ text: String) -> JSONValue {
    let limits = JSONLimits(bytes: 1 << 20, values: 20_000, depth: 16, nameRunOutsideASCII: 256)
    guard case .object(let fields)? = try? JSONReader.decode(JSONValue.self, from: text, within: limits) else {
      return .object([:])
    }
    return .object(fields)
  }

  package static func file(_ record: FileRecord) -> JSONValue {
    let path = "/v1/jobs/\(record.job.text)/files/\(PercentEncoding.encode(record.name))?attempt=\(record.attempt)"
    return .object([
      "name": .text(record.name), "attempt": .whole(record.attempt), "kind": .text(record.kind),
      "user": .text(record.user), "stream": .whole(record.stream), "segment": .whole(record.segment),
      "start": .time(record.start), "duration": .whole(record.duration), "bytes": .whole(record.bytes),
      "sha256": .text(record.sha256), "storedAt": .time(record.storedAt), "url": .text(path),
    ])
  }

  package static func live(_ status: JobStatus) -> JSONValue {
    .object([
      "time": .time(status.time), "state": .text(status.state), "paused": pause(status.paused),
      "users": .array(status.users.map(user)), "userCount": .whole(status.userCount),
      "cpuSeconds": number(status.cpuSeconds), "verificationCPUSeconds": number(status.verificationCPUSeconds),
      "privateBytes": .whole(status.privateBytes), "bytesWritten": .whole(status.bytesWritten),
      "totals": counts(status.totals), "stalledUsers": .whole(status.stalledUsers),
    ])
  }

  private static func user(_ user: UserStatus) -> JSONValue {
    .object([
      "user": .text(user.user), "name": .text(user.name), "state": .text(user.state), "bitrate": number(user.bitrate),
      "sentBitrate": user.sentBitrate.map(number) ?? .null, "framesPerSecond": number(user.framesPerSecond),
      "counts": counts(user.counts), "audioLevel": user.audioLevel.map(number) ?? .null,
      "lastFrameAt": .time(user.lastFrameAt), "isPaused": .bool(user.isPaused), "isStalled": .bool(user.isStalled),
    ])
  }

  private static func counts(_ counts: MediaCounts) -> JSONValue {
    .object([
      "packets": .whole(counts.packets), "lost": .whole(counts.lost), "recovered": .whole(counts.recovered),
      "frames": .whole(counts.frames), "decodeErrors": .whole(counts.decodeErrors),
      "unverified": .whole(counts.unverified),
    ])
  }

  /// JSON has no infinity, and a process of another version may write anything.
  private static func number(_ value: Double) -> JSONValue { .number(value.isFinite ? value : 0) }
}
