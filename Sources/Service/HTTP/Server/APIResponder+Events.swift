import HTTPTypes
import Hummingbird
import JSON
import JobProtocol
import SQLStore

extension APIResponder {
  /// `GET /v1/events`, `/v1/jobs/ID/events`
  func events(_ job: JobID?, _ query: APIQuery, _ request: Request, _ context: APIContext, _ token: AccessToken)
    async throws -> Response
  {
    let after = query.values["after"] == Cursor.now ? try await store.newestEvent() : try query.event()
    let limit = try query.limit(default: APIQuery.maximumLimit)
    var start = after
    if let last = request.headers[.lastEventID] {
      guard let event = Cursor.event(last) else { throw APIProblem.header("Last-Event-ID", Cursor.sentence) }
      start = event
    }
    guard Self.wantsStream(request) else {
      let events = try await store.events(project: token.project, job: job, after: after, limit: limit)
      return Self.json(
        .object([
          "events": .array(events.map(APIDocument.event)),
          "after": .text(Cursor.text(event: events.last?.id ?? after)),
        ]))
    }
    let (store, watcher, project, first) = (store, watcher, token.project, start)
    return EventStream.response(context.channel, while: { [access] in access.isValid(token) }) { stream in
      var after = first
      for await newest in await watcher.subscribe() where newest > after {
        while true {
          let events = try await store.events(
            project: project, job: job, after: after, limit: APIQuery.maximumLimit)
          for event in events {
            try await stream.send(
              id: Cursor.text(event: event.id), event: event.type, data: Self.line(APIDocument.event(event)))
          }
          guard let last = events.last else { break }
          after = last.id
        }
      }
    }
  }

  static func wantsStream(_ request: Request) -> Bool {
    request.method == .get
      && request.headers[values: .accept].contains { header in
        header.split(separator: ",").contains { part in
          part.split(separator: ";").first.map { $0.filter { $0 != " " } == "text/event-stream" } ?? false
        }
      }
  }

  /// `GET /v1/live`
  func live(_ request: Request, _ context: APIContext, _ token: AccessToken) async throws -> Response {
    let (store, control, project) = (store, control, token.project)
    @Sendable func document() async throws -> JSONValue {
      let own = try await store.unfinishedIDs(project: project)
      let statuses = await control.statuses().filter { own.contains($0.key) }
      let here = Dictionary(uniqueKeysWithValues: statuses.map { ($0.key.text, APIDocument.live($0.value)) })
      return .object(["jobs": .object(await liveElsewhere(project: project, token).merging(here) { $1 })])
    }
    guard Self.wantsStream(request) else { return Self.json(try await document()) }
    return EventStream.response(context.channel, while: { [access] in access.isValid(token) }) { stream in
      while !Task.isCancelled {
        try await stream.send(event: "live", data: Self.line(try await document()))
        try await ServiceTimer.sleep(for: .seconds(1))
      }
    }
  }

  /// `GET /v1/jobs/ID/live`
  func live(of job: JobRecord, _ request: Request, _ context: APIContext, _ token: AccessToken) async throws -> Response
  {
    let (control, id) = (control, job.id)
    guard Self.wantsStream(request) else {
      guard let status = await control.live(id) else { throw APIProblem(.jobNotRunning) }
      return Self.json(APIDocument.live(status))
    }
    return EventStream.response(context.channel, while: { [access] in access.isValid(token) }) { stream in
      while !Task.isCancelled {
        if let status = await control.live(id) {
          try await stream.send(event: "live", data: Self.line(APIDocument.live(status)))
        } else if let text = await liveElsewhere(id, project: token.project) {
          try await stream.send(event: "live", data: text)
        }
        try await ServiceTimer.sleep(for: .seconds(1))
      }
    }
  }
}
