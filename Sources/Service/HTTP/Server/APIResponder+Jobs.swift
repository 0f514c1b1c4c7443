import HTTPTypes
import Hummingbird
import JSON
import JobProtocol
import Media
import ObjectStore
import SQLStore

extension APIResponder {
  /// `POST /v1/jobs`
  func submit(_ request: Request, _ token: AccessToken) async throws -> Response {
    let value = try Self.json(try await Self.body(of: request))
    let key = try Self.idempotencyKey(request.headers)
    // The order of names and the spaces between them do not make another body.
    let idempotency = try key.map { key in
      let digest = try secrets.digest(of: Array(Self.line(value).utf8), context: "idempotency")
      return NewJob.Idempotency(key: key, bodySHA256: digest.hexadecimal)
    }
    if let idempotency, let known = try await store.submission(of: idempotency, project: token.project) {
      return try await response(to: known)
    }
    let parsed: (request: JobRequest, secrets: JobSecrets)
    do throws(JobRequestError) {
      parsed = try JobRequest.parse(value, configuration: configuration, project: token.project)
    } catch {
      throw APIProblem(faults: error.problems)
    }
    try await checkServer(parsed.request)
    let id = JobID.random()
    var job = NewJob(
      id: id, project: token.project, kind: parsed.request.kind.rawValue, state: .scheduled,
      paused: try parsed.request.initialPause.databaseText, request: try parsed.request.stored,
      room: parsed.request.room ?? "", server: parsed.request.server, uniqueKey: parsed.request.uniqueKey,
      startAt: parsed.request.startAt, queueFor: parsed.request.queueFor, labels: parsed.request.labels,
      webhooks: parsed.request.webhooks.compactMap(\.stored), secrets: try sealed(parsed.secrets, id),
      idempotency: idempotency)
    let reservation: CapacityReservation?
    do {
      reservation = try await reserve(&job, parsed.request)
    } catch {
      // The job that is in the way, or that was submitted meanwhile, says more than that there is no room for another one.
      guard let known = try await store.conflict(with: job) else { throw error }
      return try await response(to: known)
    }
    do {
      let submission = try await store.submit(job)
      guard case .created = submission else {
        if let reservation { await control.release(reservation) }
        return try await response(to: submission)
      }
      await control.submitted(id, reservation: reservation)
      return try await response(to: submission)
    } catch {
      if let reservation { await control.release(reservation) }
      throw error
    }
  }

  /// Sets the state in which the job begins, and reserves room for one that begins at once.
  private func reserve(_ job: inout NewJob, _ request: JobRequest) async throws -> CapacityReservation? {
    let now = try await store.now()
    if let startAt = request.startAt, startAt > now {
      let missing = await control.missing
      guard missing.isEmpty else { throw Self.notReady(missing) }
      job.state = .scheduled
      return nil
    }
    do throws(CapacityShortage) {
      let reservation = try await control.reserve(request.kind)
      job.state = .starting
      job.node = await control.nodeName
      return reservation
    } catch {
      switch error.cause {
      case .notAccepting: throw Self.notReady(await control.missing)
      case .resource(let resource, let needed, let free):
        if await control.hasRoomElsewhere() {
          // The other node takes it within some seconds.
          job.state = .queued
          job.queueFor = max(job.queueFor, Self.timeForOthers)
          return nil
        }
        metrics.refused(resource)
        // A disk without space is not waited for.
        if request.queueFor > 0, resource != .disk {
          job.state = .queued
          return nil
        }
        var problem = APIProblem(.noCapacity, error.description)
        problem.resource = (resource.rawValue, needed, free)
        problem.retryAfter = 5
        throw problem
      }
    }
  }

  /// How long a job waits for another node that has room, in milliseconds.
  private static let timeForOthers: Int64 = 10_000

  static func notReady(_ missing: [String]) -> APIProblem {
    var problem = APIProblem(.notReady, missing.first ?? "The service does not accept jobs at the moment.")
    problem.missing = missing
    problem.retryAfter = 10
    return problem
  }

  private func checkServer(_ request: JobRequest) async throws {
    let server = request.server
    guard configuration.servers[server] == nil else { return }
    let sentence = try await Self.lookups.run {
      try await BlockingWork.run("resolve", within: .seconds(15)) { ServerURL.problemWhenResolved(server) }
    }
    if let sentence { throw APIProblem(faults: [JobProblem("/server", sentence)]) }
  }

  /// A name server that does not answer holds a thread for each name; further submissions wait.
  private static let lookups = AsyncSlots(16)

  private func sealed(_ secrets: JobSecrets, _ id: JobID) throws -> [UInt8]? {
    secrets.isEmpty ? nil : try self.secrets.seal(try secrets.json, context: id.text)
  }

  private func response(to submission: Submission) async throws -> Response {
    switch submission {
    case .created(let record):
      var response = Self.json(try await document(record), status: .created)
      response.headers[.location] = "/v1/jobs/\(record.id.text)"
      return response
    case .replayed(let record):
      var response = Self.json(try await document(record))
      response.headers[.idempotencyReplayed] = "true"
      response.headers[.location] = "/v1/jobs/\(record.id.text)"
      return response
    case .bodyDiffers: throw APIProblem(.idempotencyKeyReused)
    case .keyTaken(let id):
      var problem = APIProblem(.uniqueKeyInUse, "The job \(id.text) has this uniqueKey and has not ended.")
      problem.job = id.text
      throw problem
    }
  }

  private static func idempotencyKey(_ headers: HTTPFields) throws(APIProblem) -> String? {
    let values = headers[values: .idempotencyKey]
    guard let value = values.first else { return nil }
    guard values.count == 1, (1...255).contains(value.utf8.count), value.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
    else { throw .header("Idempotency-Key", "An idempotency key has 1 to 255 printable ASCII characters.") }
    return value
  }

  /// `GET /v1/jobs`
  func list(_ query: APIQuery, _ token: AccessToken) async throws -> Response {
    let limit = try query.limit()
    let records = try await store.jobs(
      project: token.project, try query.filter(), after: try query.jobPosition(), limit: limit + 1)
    let shown = Array(records.prefix(limit))
    let labels = try await store.labels(of: shown.map(\.id))
    var fields: [String: JSONValue] = [
      "jobs": .array(shown.map { APIDocument.job($0, labels: labels[$0.id] ?? [:]) })
    ]
    let last = records.count > limit ? shown.last : nil
    fields["after"] = .text(last.map { Cursor.text(JobPosition(createdAt: $0.createdAt, id: $0.id)) })
    return Self.json(.object(fields))
  }

  /// `POST /v1/jobs/ID/stop`, `pause`, `resume`
  func command(
    _ kind: CommandRecord.Kind, _ id: JobID, _ request: Request, _ context: APIContext, _ token: AccessToken
  ) async throws -> Response {
    let body = try await Self.body(of: request)
    do {
      return try await command(kind, id, body, begun: context.begun, token)
    } catch let error as SQLError where error.kind != .constraint {
      // The node that has the job carries it out all the same.
      let users = try Self.users(kind, body)
      guard
        let outcome = await control.commandWithoutDatabase(kind, of: id, project: token.project, users: users)
      else { throw error }
      return try Self.answer(
        outcome.result, isDone: outcome.isDone, job: APIDocument.job(outcome.job))
    }
  }

  private func command(
    _ kind: CommandRecord.Kind, _ id: JobID, _ body: [UInt8], begun: MonotonicInstant, _ token: AccessToken
  ) async throws -> Response {
    let record = try await job(id, token)
    let users = try Self.users(kind, body)
    if kind != .stop, record.kind != JobKind.record.rawValue { throw APIProblem(.notPausable) }
    let argument = Self.line(.object(users.map { ["users": .array($0.map { .text($0) })] } ?? [:]))
    guard let (command, before) = try await store.request(kind, of: id, project: token.project, argument: argument)
    else {
      throw APIProblem(.notFound, "There is no such job.")
    }
    guard let command else {
      guard kind == .stop else { throw APIProblem(.jobEnded) }
      return Self.json(.object(["done": .bool(true), "job": try await document(before)]))
    }
    await control.commandRequested(command.id, of: id)
    let wait = max(Self.minimumCommandWait, Self.commandWait - (MonotonicInstant.now - begun))
    let isDone = await control.isDone(command.id, within: wait)
    let result = isDone ? try await store.command(command.id)?.result.map { CommandResult(stored: $0) } : nil
    if result?.error != nil { return try Self.answer(result, isDone: isDone, job: .null) }
    return try Self.answer(result, isDone: isDone, job: try await document(try await job(id, token)))
  }

  private static func answer(
    _ result: CommandResult?, isDone: Bool, job: JSONValue
  ) throws(APIProblem) -> Response {
    if let sentence = result?.error {
      throw APIProblem(.jobNotRunning, sentence.printable(utf8Bytes: 500))
    }
    var fields: [String: JSONValue] = ["done": .bool(isDone), "job": job]
    if let time = result?.effectiveAt { fields["effectiveAt"] = .time(time) }
    return Self.json(.object(fields), status: isDone ? .ok : .accepted)
  }

  /// The users of a command; nil for everybody.
  private static func users(_ kind: CommandRecord.Kind, _ body: [UInt8]) throws(APIProblem) -> [String]? {
    if body.isEmpty { return nil }
    guard case .object(let fields) = try json(body) else {
      throw APIProblem(faults: [JobProblem("", "The body is an object.")])
    }
    for name in fields.keys.sorted() where kind == .stop || name != "users" {
      throw APIProblem(
        faults: [JobProblem(JobProblem.pointer("", name.printable(utf8Bytes: 64)), "There is no such field.")])
    }
    guard let value = fields["users"] else { return nil }
    guard case .array(let values) = value, (1...PauseState.maximumUsers).contains(values.count) else {
      throw APIProblem(
        faults: [JobProblem("/users", "The users are an array of 1 to \(PauseState.maximumUsers) ids.")])
    }
    var users: [String] = []
    for (index, value) in values.enumerated() {
      guard let user = value.string, (1...1_024).contains(user.utf8.count), !user.utf8.contains(0) else {
        throw APIProblem(faults: [JobProblem("/users/\(index)", "The id of a user has 1 to 1024 bytes.")])
      }
      users.append(user.string)
    }
    return users
  }
}

extension HTTPField.Name {
  static let idempotencyKey = valid("Idempotency-Key")
  static let idempotencyReplayed = valid("Idempotency-Replayed")
  static let chatbotProject = valid(NodePeers.projectField)
  static let lastEventID = valid("Last-Event-ID")
  static let referrerPolicy = valid("Referrer-Policy")

  /// - Parameter name: of this program, not from outside.
  private static func valid(_ name: String) -> HTTPField.Name {
    guard let name = HTTPField.Name(name) else { preconditionFailure("\(name) is no name of a field.") }
    return name
  }
}
