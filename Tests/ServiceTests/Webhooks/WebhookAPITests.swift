import Foundation
import JSON
import JobProtocol
import Media
import SQLStore
import Testing

@testable import Service

@Suite struct WebhookAPITests {
  private static func receiver(
    _ url: String = "https://hooks.example/jobs", _ events: JSONValue? = .array(["job.*", "recording.finished"]),
    secret: String = "app"
  ) -> JSONValue {
    var fields: [String: JSONValue] = ["url": .text(url), "secret": .text(secret)]
    fields["events"] = events
    return .object(fields)
  }

  private static func job(_ receivers: JSONValue...) -> JSONValue {
    .object(["kind": "record", "room": "100", "webhooks": .array(receivers)])
  }

  private func service(_ change: (inout ServiceConfiguration.Webhooks) -> Void = { _ in }) async throws
    -> ServiceFixture
  {
    try await ServiceFixture {
      $0.webhooks.secrets = ["app": .init(file: "app"), "theirs": .init(file: "theirs", projects: ["two"])]
      change(&$0.webhooks)
    }
  }

  @Test func `a job has its receivers, and its events become deliveries`() async throws {
    let service = try await service()
    let id = try await service.submit(
      Self.job(Self.receiver(), Self.receiver("https://b.example:8443/?a=1", nil)))
    let job = try await service.client("viewer").json("GET", "/v1/jobs/\(id)")
    #expect(
      job["webhooks"]
        == .array([Self.receiver(), Self.receiver("https://b.example:8443/?a=1", .array(["*"]))]))
    try await service.store.connection.transaction { transaction in
      _ = try transaction.append(.jobStarted, of: id)
      _ = try transaction.append(.participantJoined, of: id)
    }
    let list = try await service.client("viewer").json("GET", "/v1/deliveries?job=\(id)&state=pending")
    guard case .array(let deliveries)? = list["deliveries"] else { throw CancellationError() }
    #expect(deliveries.map { $0["id"] } == ["d2n1", "d1n0", "d1n1"])
    #expect(deliveries.first?["type"] == "participant.joined")
    #expect(deliveries.first?["event"] == "e2")
    #expect(deliveries.first?["url"] == "https://b.example:8443/?a=1")
    #expect(list["after"] == .null)
    let page = try await service.client("viewer").json("GET", "/v1/deliveries?limit=2")
    #expect(page["after"] == "d1n0")
    let rest = try await service.client("viewer").json("GET", "/v1/deliveries?limit=2&after=d1n0")
    guard case .array(let others)? = rest["deliveries"] else { throw CancellationError() }
    #expect(others.map { $0["id"] } == ["d1n1"])
    #expect(try await service.client("other").json("GET", "/v1/deliveries")["deliveries"] == .array([]))
  }

  @Test func `a job without receivers has those of the configuration, and one with none has none`() async throws {
    let standard = WebhookRequest(url: "https://all.example/", secret: "app")
    let service = try await service { $0.defaults = [standard] }
    let id = try await service.submit()
    let job = try await service.client("viewer").json("GET", "/v1/jobs/\(id)")
    #expect(job["webhooks"] == .array([Self.receiver("https://all.example/", .array(["*"]))]))
    let none = try await service.submit(Self.job())
    #expect(try await service.client("viewer").json("GET", "/v1/jobs/\(none)")["webhooks"] == .array([]))
  }

  @Test func `receivers that cannot be used are refused, each with its place`() async throws {
    let service = try await service()
    let cases: [(JSONValue, String)] = [
      (.text("a"), "/webhooks"), (.array(Array(repeating: Self.receiver(), count: 5)), "/webhooks"),
      (.array(["a"]), "/webhooks/0"),
      (.array([Self.receiver(), .object(["url": "https://a.example/"])]), "/webhooks/1/secret"),
      (.array([Self.receiver("http://hooks.example/")]), "/webhooks/0/url"),
      (.array([Self.receiver("https://10.0.0.1/")]), "/webhooks/0/url"),
      (.array([Self.receiver("https://user:pass@hooks.example/")]), "/webhooks/0/url"),
      (.array([Self.receiver(secret: "other")]), "/webhooks/0/secret"),
      (.array([Self.receiver(secret: "theirs")]), "/webhooks/0/secret"),
      (.array([Self.receiver("https://a.example/", .array([]))]), "/webhooks/0/events"),
      (.array([Self.receiver("https://a.example/", .array(["job.*", "jobs.*"]))]), "/webhooks/0/events/1"),
      (.array([Self.receiver("https://a.example/", .text("*"))]), "/webhooks/0/events"),
      (.array([.object(["url": "https://a.example/", "secret": "app", "key": "whsec_"])]), "/webhooks/0/key"),
    ]
    for (value, pointer) in cases {
      let body: JSONValue = .object(["kind": "record", "webhooks": value])
      let answer = try await service.client("operator").send("POST", "/v1/jobs", body: body)
      #expect(answer.status == 422)
      let problem = try APIResponder.json(answer.body)
      guard case .array(let errors)? = problem["errors"] else { throw CancellationError() }
      #expect(errors.map { $0["pointer"]?.string?.ascii } == [pointer], "\(problem)")
    }
    let theirs = try await service.client("other").send(
      "POST", "/v1/jobs", body: Self.job(Self.receiver(secret: "theirs")))
    #expect(theirs.status == 201)
  }

  @Test func `a delivery that has ended is sent again, by an operator of its project`() async throws {
    let service = try await service()
    let id = try await service.submit(Self.job(Self.receiver()))
    try await service.store.connection.transaction { _ = try $0.append(.jobStarted, of: id) }
    func replay(_ token: String, _ path: String = "d1n0", _ body: JSONValue? = nil) async throws -> APIClient.Answer {
      try await service.client(token).send("POST", "/v1/deliveries/\(path)/replay", body: body)
    }
    let pending = try await replay("operator")
    #expect(pending.status == 409)
    #expect(try APIResponder.json(pending.body)["type"] == "urn:chatbot:problem:deliveryPending")
    let due = try await service.store.claimDeliveries(limit: 1, for: 1_000)[0].delivery
    try await service.store.deliveryFailed(
      due, status: 500, error: "The receiver answered with 500.", retryAfter: 90_000_000)
    let dead = try await service.client("viewer").json("GET", "/v1/deliveries?state=dead")
    guard case .array(let deliveries)? = dead["deliveries"], let first = deliveries.first else {
      throw CancellationError()
    }
    #expect(first["error"] == "The receiver answered with 500.")
    #expect(first["status"] == .number(500))
    #expect(first["tries"] == .number(1))
    #expect(first["nextAt"] == .null)
    #expect(try await replay("viewer").status == 403)
    #expect(try await replay("other").status == 404)
    #expect(try await replay("operator", "d9n0").status == 404)
    #expect(try await replay("operator", "d01n0").status == 404)
    #expect(try await replay("operator", "d1n0", .object(["a": "b"])).status == 422)
    let answer = try await replay("operator")
    #expect(answer.status == 202)
    let again = try APIResponder.json(answer.body)
    #expect(again["state"] == "pending" && again["replays"] == .number(1) && again["endedAt"] == .null)
    for query in ["state=none", "job=A", "after=e1", "limit=0", "limit=201", "room=1"] {
      #expect(try await service.client("viewer").send("GET", "/v1/deliveries?\(query)").status == 422, "\(query)")
    }
    #expect(try await service.client("viewer").send("POST", "/v1/deliveries").status == 405)
    let metrics = String(decoding: try await service.client("viewer").send("GET", "/metrics").body, as: UTF8.self)
    #expect(metrics.contains("\nchatbot_webhooks_pending 1\n"))
    #expect(metrics.contains("\nchatbot_webhooks_dead 0\n"))
  }

  private func problems(_ yaml: String) -> [ConfigurationError.Problem] {
    do throws(ConfigurationError) {
      _ = try ServiceConfiguration(yaml: yaml)
      return []
    } catch {
      return error.problems
    }
  }

  @Test func `receivers and secrets are read from the configuration`() throws {
    let configuration = try ServiceConfiguration(
      yaml: """
        webhooks:
          defaults:
            - {url: "http://localhost:8000/", secret: app, events: [job.*, recording.finished]}
            - url: https://b.example/
              secret: app
          secrets:
            app: /etc/chatbot/app.secret
            theirs: {file: theirs, projects: [two, three]}
          allowPrivate: true
          ca: ca.pem
        """)
    let webhooks = configuration.webhooks
    #expect(webhooks.allowsPrivate && webhooks.ca == "ca.pem")
    #expect(webhooks.secrets["app"] == .init(file: "/etc/chatbot/app.secret"))
    #expect(webhooks.secrets["theirs"] == .init(file: "theirs", projects: ["two", "three"]))
    #expect(webhooks.defaults.map(\.url) == ["http://localhost:8000/", "https://b.example/"])
    #expect(webhooks.defaults.map { $0.events.map(\.description) } == [["job.*", "recording.finished"], ["*"]])
  }

  @Test func `receivers of the configuration that cannot be used are errors with their lines`() {
    let secrets = "webhooks:\n  secrets: {app: a, theirs: {file: b, projects: [two]}}\n  defaults:\n"
    #expect(problems(secrets + "    - {url: https://a.example/, secret: app}\n").isEmpty)
    for line in [
      "{url: http://a.example/, secret: app}", "{url: https://localhost/, secret: app}", "{url: https://a.example/}",
      "{url: https://a.example/, secret: none}", "{url: https://a.example/, secret: theirs}",
      "{url: https://a.example/, secret: app, events: [nothing]}", "{url: https://a.example/, secret: app, key: a}",
      "a",
    ] {
      #expect(problems(secrets + "    - \(line)\n").map(\.line) == [4], "\(line)")
    }
    #expect(problems("webhooks:\n  secrets:\n    a b: c\n").map(\.line) == [3])
    #expect(problems("webhooks:\n  secrets:\n    a: {projects: [b]}\n").map(\.line) == [3])
    #expect(problems("webhooks:\n  secrets:\n    a: {file: a, projects: []}\n").map(\.line) == [3])
    #expect(problems("webhooks:\n  allowPrivate: maybe\n").map(\.line) == [2])
  }
}
