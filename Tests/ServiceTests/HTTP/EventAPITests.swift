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

@Suite struct EventAPITests {
  @Test func `events are read by pages and as a stream that goes on where it ended`() async throws {
    let service = try await ServiceFixture()
    let client = try service.client("viewer")
    let job = try await service.submit()
    @Sendable func append(_ name: String) async throws {
      try await service.store.connection.transaction { transaction in
        _ = try transaction.append(.participantJoined, of: job, data: "{\"user\":\"\(name)\"}")
      }
    }
    for index in 0..<5 { try await append("a\(index)") }
    let first = try await client.json("GET", "/v1/jobs/\(job)/events?limit=2")
    let rest = try await client.json("GET", "/v1/events?after=\(first["after"]?.string?.ascii ?? "")")
    guard case .array(let events)? = rest["events"] else { throw CancellationError() }
    #expect(events.count == 3)
    #expect(events.last?["data"]?["user"] == "a4")
    let later = Task {
      try await Task.sleep(for: .milliseconds(300))
      for index in 5..<8 { try await append("a\(index)") }
    }
    let (seen, continuation) = AsyncStream<String>.makeStream()
    try await client.follow("/v1/jobs/\(job)/events", after: first["after"]?.string?.ascii) { event in
      let user = event["data"]?["user"]?.string?.ascii ?? "?"
      continuation.yield(user)
      return user != "a7"
    }
    continuation.finish()
    try await later.value
    let users = await seen.reduce(into: []) { $0.append($1) }
    #expect(users == (2..<8).map { "a\($0)" })
    #expect(try await service.client("other").json("GET", "/v1/events")["events"] == .array([]))
    #expect(try await client.send("GET", "/v1/events?after=x").status == 422)
  }

  @Test func `a client of a stream that does not read is disconnected`() async throws {
    let service = try await ServiceFixture()
    let job = try await service.submit()
    let connection = try RawConnection(port: service.port)
    try connection.send(
      "GET /v1/jobs/\(job)/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(service.tokens["viewer"] ?? "")\r\n"
        + "Accept: text/event-stream\r\n\r\n")
    let data = "{\"text\":\"\(String(repeating: "x", count: 60_000))\"}"
    for _ in 0..<300 {
      try await service.store.connection.transaction { transaction in
        _ = try transaction.append(.participantJoined, of: job, data: data)
      }
    }
    let isClosed = try await connection.isClosedAfterReading(within: .seconds(20), readingAfter: .seconds(8))
    #expect(isClosed)
  }

  @Test func `a client of a stream that reads gets all that happened, however much it is`() async throws {
    let service = try await ServiceFixture()
    let job = try await service.submit()
    let data = "{\"text\":\"\(String(repeating: "x", count: 60_000))\"}"
    for _ in 0..<60 {
      try await service.store.connection.transaction { transaction in
        _ = try transaction.append(.participantJoined, of: job, data: data)
      }
    }
    let count = Mutex(0)
    try await service.client("viewer").follow("/v1/jobs/\(job)/events", after: nil) { _ in
      count.withLock {
        $0 += 1
        return $0 < 60
      }
    }
    #expect(count.withLock { $0 } == 60)
  }
}
