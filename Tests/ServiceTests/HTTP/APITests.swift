import Foundation
import JSON
import JobProtocol
import Media
import ObjectStore
import PrometheusText
import SQLStore
import Synchronization
import Testing

@testable import Service

@Suite struct APITests {
  private static let record: JSONValue = .object(["kind": "record", "room": "100"])

  /// Every request with the role that it needs; nil for none. `ID` is a job.
  private static let matrix: [(method: String, path: String, role: TokenRole?)] = [
    ("GET", "/v1/jobs", .viewer), ("POST", "/v1/jobs", .operator), ("GET", "/v1/jobs/ID", .viewer),
    ("POST", "/v1/jobs/ID/stop", .operator), ("POST", "/v1/jobs/ID/pause", .operator),
    ("POST", "/v1/jobs/ID/resume", .operator), ("GET", "/v1/jobs/ID/events", .viewer),
    ("GET", "/v1/deliveries", .viewer), ("POST", "/v1/deliveries/d1n0/replay", .operator),
    ("GET", "/v1/events", .viewer), ("GET", "/v1/live", .viewer), ("GET", "/v1/jobs/ID/live", .viewer),
    ("GET", "/v1/jobs/ID/logs", .viewer), ("GET", "/v1/jobs/ID/users/u/snapshot.png", .viewer),
    ("GET", "/v1/jobs/ID/files", .viewer), ("GET", "/v1/jobs/ID/files/a.webm", .viewer),
    ("DELETE", "/v1/jobs/ID/recording", .admin), ("GET", "/v1/nodes", .viewer),
    ("POST", "/v1/nodes/none/drain", .admin), ("POST", "/v1/nodes/none/undrain", .admin), ("GET", "/metrics", .viewer),
    ("GET", "/v1/session", .viewer),
    ("GET", "/healthz", nil), ("GET", "/readyz", nil), ("GET", "/openapi.json", nil), ("GET", "/", nil),
  ]

  @Test func `each route answers by the role of the token, and hides the jobs of other projects`() async throws {
    let service = try await ServiceFixture()
    let job = try await service.submit()
    for (method, path, role) in Self.matrix {
      let target = path.replacing("ID", with: job.text)
      let body: JSONValue? = method == "POST" && path == "/v1/jobs" ? Self.record : nil
      let open = try APIClient(url: "http://127.0.0.1:\(service.port)", token: "wrong-but-long-enough-token")
      let without = try await open.send(method, target, body: body).status
      #expect([401, 429].contains(without) == (role != nil), "\(method) \(path) with a wrong token: \(without)")
      for (name, own) in [("viewer", TokenRole.viewer), ("operator", .operator), ("admin", .admin)] {
        let status = try await service.client(name).send(method, target, body: body).status
        #expect((status == 403) == (role.map { own < $0 } ?? false), "\(method) \(path) as \(name): \(status)")
        #expect(status != 401 && status < 500, "\(method) \(path) as \(name): \(status)")
      }
      if path.contains("ID") {
        let status = try await service.client("other").send(method, target, body: body).status
        #expect(status == 404, "\(method) \(path) with another project's token: \(status)")
      }
    }
  }

  @Test func `wrong tokens of an address are refused after ten, and a right one is not`() async throws {
    let service = try await ServiceFixture()
    let wrong = try service.client("0123456789012345678901234567890")
    var statuses: [Int] = []
    for _ in 0..<12 { statuses.append(try await wrong.send("GET", "/v1/jobs").status) }
    #expect(statuses == Array(repeating: 401, count: 10) + [429, 429])
    let answer = try await wrong.send("GET", "/v1/jobs")
    #expect(answer.headers["retry-after"] != nil)
    #expect(try await service.client("viewer").send("GET", "/v1/jobs").status == 200)
  }

  @Test func `a token has so many requests a second`() async throws {
    let service = try await ServiceFixture { $0.limits.requests = 5 }
    var statuses: [Int] = []
    for _ in 0..<20 { statuses.append(try await service.client("viewer").send("GET", "/v1/jobs").status) }
    #expect(statuses.prefix(5).allSatisfy { $0 == 200 })
    #expect(statuses.contains(429))
  }

  @Test func `a job is submitted, shown and listed`() async throws {
    let service = try await ServiceFixture()
    let body: JSONValue = .object([
      "kind": "record", "server": "main", "room": "100", "uniqueKey": "room-100",
      "labels": .object(["meeting": "42"]), "secrets": .object(["pin": "1234"]),
      "record": .object(["segment": "60s", "verify": .bool(true), "consent": "required"]),
      "end": .object(["duration": "4h", "emptyFor": .null]), "startAt": "2099-12-01T09:00:00Z", "queueFor": "30s",
    ])
    let answer = try await service.client("operator").send("POST", "/v1/jobs", body: body)
    #expect(answer.status == 201)
    let text = String(decoding: answer.body, as: UTF8.self)
    #expect(!text.contains("1234") && !text.contains("pin"))
    let job = try await service.client("viewer").json("GET", answer.headers["location"] ?? "")
    #expect(job["state"] == "scheduled")
    #expect(job["paused"]?["all"] == .bool(true))
    #expect(job["labels"] == .object(["meeting": "42"]))
    #expect(job["end"]?["duration"] == "14400s")
    #expect(job["end"]?["emptyFor"] == .null)
    #expect(job["startAt"] == "2099-12-01T09:00:00.000Z")
    let record = try await service.store.unfinishedJobs().first
    let sealed = try #require(record?.secrets)
    #expect(!String(decoding: sealed, as: UTF8.self).contains("1234"))
    for (query, count) in [
      ("state=scheduled", 1), ("state=running,finished", 0), ("kind=record", 1), ("room=100", 1), ("room=101", 0),
      ("label.meeting=42", 1), ("label.meeting=43", 0), ("createdAfter=2099-01-01T00:00:00Z", 0),
    ] {
      let list = try await service.client("viewer").json("GET", "/v1/jobs?\(query)")
      guard case .array(let jobs)? = list["jobs"] else { throw CancellationError() }
      #expect(jobs.count == count, "\(query)")
    }
  }

  @Test func `lists have pages without repetition`() async throws {
    let service = try await ServiceFixture()
    var submitted: Set<String> = []
    for _ in 0..<7 { submitted.insert(try await service.submit().text) }
    var (listed, after): ([String], String?) = ([], nil)
    repeat {
      let list = try await service.client("viewer").json(
        "GET", "/v1/jobs?limit=3" + (after.map { "&after=\($0)" } ?? ""))
      guard case .array(let jobs)? = list["jobs"] else { throw CancellationError() }
      listed += jobs.compactMap { $0["id"]?.string?.ascii }
      after = list["after"]?.string?.ascii
    } while after != nil
    #expect(listed.count == 7)
    #expect(Set(listed) == submitted)
  }

  @Test func `a hundred submissions with one idempotency key make one job`() async throws {
    let service = try await ServiceFixture()
    let client = try service.client("operator")
    let answers = try await withThrowingTaskGroup(of: APIClient.Answer.self) { group in
      for _ in 0..<100 {
        group.addTask {
          try await client.send("POST", "/v1/jobs", body: Self.record, headers: ["Idempotency-Key": "key 1"])
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers.count { $0.status == 201 } == 1)
    #expect(Set(answers.map(\.status)) == [200, 201])
    #expect(answers.count { $0.status == 200 && $0.headers["idempotency-replayed"] == "true" } == 99)
    #expect(try await service.store.unfinishedJobs().count == 1)
    let (reserved, released) = await (service.control.reserved, service.control.released)
    #expect(reserved - released == 1)
    let other = try await client.send(
      "POST", "/v1/jobs", body: .object(["kind": "record"]), headers: ["Idempotency-Key": "key 1"])
    #expect(other.status == 422)
  }

  @Test func `a hundred submissions with one unique key make one job, and the others name it`() async throws {
    let service = try await ServiceFixture()
    let client = try service.client("operator")
    let body: JSONValue = .object(["kind": "record", "uniqueKey": "u"])
    let answers = try await withThrowingTaskGroup(of: APIClient.Answer.self) { group in
      for _ in 0..<100 { group.addTask { try await client.send("POST", "/v1/jobs", body: body) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers.count { $0.status == 201 } == 1)
    let refused = answers.filter { $0.status == 409 }
    #expect(refused.count == 99)
    let id = try await service.store.unfinishedJobs().first?.id.text ?? "?"
    #expect(refused.allSatisfy { String(decoding: $0.body, as: UTF8.self).contains("\"job\":\"\(id)\"") })
  }

  @Test func `a problem names each bad field with its pointer`() async throws {
    let service = try await ServiceFixture()
    let body: JSONValue = .object([
      "kind": "record", "room": .number(1), "colour": "red", "play": .object([:]),
      "record": .object(["segment": "never", "a/b~": .null]), "labels": .object(["x": .number(1)]),
      "end": .object(["emptyFor": "soon"]),
    ])
    let answer = try await service.client("operator").send("POST", "/v1/jobs", body: body)
    #expect(answer.status == 422)
    #expect(answer.headers["content-type"] == "application/problem+json")
    let text = String(decoding: answer.body, as: UTF8.self)
    for pointer in ["/room", "/colour", "/play", "/record/segment", "/record/a~1b~0", "/labels/x", "/end/emptyFor"] {
      #expect(text.contains("\"pointer\":\"\(pointer)\""), "\(pointer)")
    }
  }

  @Test func `a job without room is refused with the short resource, or waits`() async throws {
    let service = try await ServiceFixture()
    await service.control.set(shortage: CapacityShortage(.resource(.memory, needed: 10, free: 3)))
    let client = try service.client("operator")
    let refused = try await client.send("POST", "/v1/jobs", body: Self.record)
    #expect(refused.status == 503)
    #expect(refused.headers["retry-after"] != nil)
    let text = String(decoding: refused.body, as: UTF8.self)
    #expect(text.contains("\"resource\":\"memory\"") && text.contains("\"needed\":10") && text.contains("\"free\":3"))
    let job = try await client.json(
      "POST", "/v1/jobs", body: .object(["kind": "record", "room": "1", "queueFor": "30s"]))
    #expect(job["state"] == "queued")
    let past = try await service.submit(
      .object(["kind": "record", "room": "2", "queueFor": "30s", "startAt": "2020-01-01T00:00:00Z", "uniqueKey": "u"]))
    let record = try #require(try await service.store.job(past))
    #expect(record.queueUntil == record.createdAt + 30_000)
    // The job that is in the way says more than that there is no room for another one.
    let taken = try await client.send("POST", "/v1/jobs", body: .object(["kind": "record", "uniqueKey": "u"]))
    #expect(taken.status == 409)
    await service.control.set(shortage: CapacityShortage(.notAccepting))
    await service.control.set(unready: ["The service ends."])
    #expect(try await client.send("POST", "/v1/jobs", body: Self.record).status == 503)
    let ready = try await client.send("GET", "/readyz")
    #expect(ready.status == 503)
    #expect(String(decoding: ready.body, as: UTF8.self).contains("The service ends."))
  }

  @Test func `commands are carried out, or accepted for later`() async throws {
    let service = try await ServiceFixture()
    let client = try service.client("operator")
    let job = try await service.submit()
    let paused = try await client.json(
      "POST", "/v1/jobs/\(job)/pause", body: .object(["users": .array(["alice"])]))
    #expect(paused["done"] == .bool(true))
    #expect(paused["effectiveAt"] == "2023-11-14T22:13:20.000Z")
    await service.control.set(carriesOut: false)
    #expect(try await client.send("POST", "/v1/jobs/\(job)/stop").status == 202)
    let wrong = try await client.send("POST", "/v1/jobs/\(job)/pause", body: .object(["who": "alice"]))
    #expect(wrong.status == 422)
    try await service.store.finish(job, .finished, .stopped, sentence: "Stopped.")
    #expect(try await client.send("POST", "/v1/jobs/\(job)/stop").status == 200)
    #expect(try await client.send("POST", "/v1/jobs/\(job)/pause").status == 409)
    let play = try await service.submit(.object(["kind": "play", "play": .object(["input": "pattern"])]))
    #expect(try await client.send("POST", "/v1/jobs/\(play)/pause").status == 409)
  }

  @Test func `the page's cookie works for reading, and for changes only from the page`() async throws {
    let service = try await ServiceFixture()
    let token = service.tokens["admin"] ?? ""
    let origin = "http://127.0.0.1:\(service.port)"
    let login = try await service.client("nobody-has-this-token-here").send(
      "POST", "/v1/session", body: .object(["token": .string(.init(token))]), headers: ["Origin": origin])
    #expect(login.status == 200)
    let cookie = try #require(login.headers["set-cookie"])
    #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"))
    let pair = String(cookie.prefix { $0 != ";" })
    func status(_ method: String, _ path: String, _ headers: String) async throws -> Int {
      let connection = try RawConnection(port: service.port)
      try connection.send(
        "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(service.port)\r\nConnection: close\r\nContent-Length: 0\r\n"
          + "Cookie: a=b; \(pair)\r\n\(headers)\r\n")
      return try await connection.status()
    }
    #expect(try await status("GET", "/v1/jobs", "") == 200)
    let job = try await service.submit()
    #expect(try await status("POST", "/v1/jobs/\(job)/stop", "") == 403)
    #expect(try await status("POST", "/v1/jobs/\(job)/stop", "Origin: https://evil.example\r\n") == 403)
    #expect(try await status("POST", "/v1/jobs/\(job)/stop", "Origin: \(origin)\r\n") == 200)
    // A proxy before the service has TLS.
    let proxied = try await service.client("x").send(
      "POST", "/v1/session", body: .object(["token": .string(.init(token))]),
      headers: ["Origin": "https://127.0.0.1:\(service.port)"])
    #expect(proxied.status == 200)
    #expect(proxied.headers["set-cookie"]?.contains("; Secure") == true && !cookie.contains("Secure"))
    let foreign = try await service.client("x").send(
      "POST", "/v1/session", body: .object(["token": .string(.init(token))]))
    #expect(foreign.status == 403)
  }

  @Test func `requests that are too large, too long or broken are refused`() async throws {
    let service = try await ServiceFixture()
    let client = try service.client("operator")
    let large = try await client.send(
      "POST", "/v1/jobs", body: .object(["kind": .string(.init(String(repeating: "x", count: 70_000)))]))
    #expect(large.status == 413)
    let token = "Authorization: Bearer \(service.tokens["operator"] ?? "")\r\n"
    func status(_ text: String) async throws -> Int {
      let connection = try RawConnection(port: service.port)
      try connection.send(text)
      return try await connection.status()
    }
    let head = "POST /v1/jobs HTTP/1.1\r\nHost: a\r\n\(token)Connection: close\r\n"
    for body in ["{", "", "nul", "[1,2", "{\"a\":\u{0}}", String(repeating: "[", count: 5_000)] {
      let status = try await status("\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
      #expect(status == 400, "\(body.prefix(20))")
    }
    for body in ["[]", "1", "null", "\"\""] {
      let status = try await status("\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
      #expect(status == 422, "\(body)")
    }
    let chunk = String(repeating: "x", count: 10_000)
    let chunks = String(repeating: "2710\r\n\(chunk)\r\n", count: 8)
    #expect(try await status("\(head)Transfer-Encoding: chunked\r\n\r\n\(chunks)0\r\n\r\n") == 413)
    let long = String(repeating: "x", count: 17_000)
    #expect(try await status("GET /v1/jobs HTTP/1.1\r\nHost: a\r\nX: \(long)\r\n\r\n") == 400)
    #expect(try await client.send("GET", "/v1/jobs/ID").status == 404)
    #expect(try await client.send("GET", "/v1/jobs/").status == 404)
    #expect(try await client.send("GET", "/v1/jobs?colour=red").status == 422)
    #expect(try await client.send("GET", "/v1/jobs?limit=0").status == 422)
    #expect(try await client.send("GET", "/v1/jobs?limit=1&limit=2").status == 422)
    #expect(try await client.send("GET", "/v1/jobs?room=%ff").status == 422)
    let method = try await client.send("DELETE", "/v1/jobs")
    #expect(method.status == 405)
    #expect(method.headers["allow"] == "GET, HEAD, POST")
  }

  @Test func `metrics have no label of a job, and promtool accepts them`() async throws {
    let service = try await ServiceFixture()
    let job = try await service.submit()
    let text = String(decoding: try await service.client("viewer").send("GET", "/metrics").body, as: UTF8.self)
    #expect(text.contains("chatbot_jobs{state=\"starting\"} 1\n"))
    #expect(text.contains("chatbot_refusals_total{resource=\"memory\"} 0\n"))
    #expect(text.contains("chatbot_database_latency_seconds_count"))
    #expect(text.contains("chatbot_database_errors_total 0\n"))
    #expect(!text.contains(job.text) && !text.contains("{room") && !text.contains(",room"))
  }

  @Test func `counters of media and of the database never go back, and none is shown before it is known`() async throws
  {
    let service = try await ServiceFixture()
    func text() async throws -> String {
      String(decoding: try await service.client("viewer").send("GET", "/metrics").body, as: UTF8.self)
    }
    #expect(!ServiceMetrics().registry.text().contains("chatbot_job_ends_total"))
    var counts = MediaCounts()
    (counts.packets, counts.frames) = (70, 7)
    await service.control.set(mediaCounts: counts)
    let first = try await text()
    #expect(first.contains("\nchatbot_packets_total 70\n") && first.contains("\nchatbot_frames_total 7\n"))
    #expect(first.contains("\nchatbot_job_ends_total{reason=\"crashing\"} 0\n"))
    #expect(first.contains("\nchatbot_attempts_total 0\n"))
    counts.packets = 60
    await service.control.set(mediaCounts: counts)
    #expect(try await text().contains("\nchatbot_packets_total 70\n"))
    counts.packets = 75
    await service.control.set(mediaCounts: counts)
    #expect(try await text().contains("\nchatbot_packets_total 75\n"))
  }
}
