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

@Suite struct FileAPITests {
  @Test func `live figures, snapshots and logs are those of the process`() async throws {
    let service = try await ServiceFixture()
    let client = try service.client("viewer")
    let job = try await service.submit()
    #expect(try await client.send("GET", "/v1/jobs/\(job)/live").status == 409)
    #expect(try await client.send("GET", "/v1/jobs/\(job)/users/u/snapshot.png").status == 409)
    var status = JobStatus(time: 1_700_000_000_000, state: .joined)
    status.users = [UserStatus(user: "<b>", name: "\u{202E}Eve", state: "connected")]
    await service.control.set(live: status, of: job)
    await service.control.set(snapshot: [1, 2, 3], of: "<b>")
    let live = try await client.json("GET", "/v1/jobs/\(job)/live")
    guard case .array(let users)? = live["users"] else { throw CancellationError() }
    #expect(users.first?["user"] == "<b>")
    let all = try await client.json("GET", "/v1/live")
    #expect(all["jobs"]?[job.text]?["state"] == "joined")
    #expect(try await service.client("other").json("GET", "/v1/live")["jobs"] == .object([:]))
    let snapshot = try await client.send("GET", "/v1/jobs/\(job)/users/%3Cb%3E/snapshot.png")
    #expect(snapshot.body == [1, 2, 3])
    #expect(try await client.send("GET", "/v1/jobs/\(job)/users/nobody/snapshot.png").status == 404)
    #expect(
      try await service.store.beginAttempt(
        1, of: job, id: "abc", version: "1", folder: "jobs/\(job)/1-abc", restartOf: nil))
    let folder = "\(service.folder)/jobs/\(job)/1-abc"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try "{\"a\":1}\n{\"a\":2}\n{\"a\":3".write(toFile: "\(folder)/log.ndjson", atomically: true, encoding: .utf8)
    let logs = try await client.send("GET", "/v1/jobs/\(job)/logs?limit=1")
    #expect(String(decoding: logs.body, as: UTF8.self) == "{\"a\":2}\n")
  }

  @Test func `files come in pages, whatever their names are`() async throws {
    let service = try await ServiceFixture()
    let client = try service.client("viewer")
    let job = try await service.submit()
    let names = ["a.webm", "a b%.webm", "\u{1F600}.webm", "z.webm", "zz\n.webm"]
    for attempt in 1...2 {
      for name in names {
        try await service.store.connection.execute(
          """
          INSERT INTO files (job, attempt, name, object, kind, bytes, sha256, stored_at)
          VALUES ($1, $2, $3, $4, 'webm', 1, '00', now_ms())
          """, [job.value, .integer(attempt), .text(name), .text("\(attempt)/\(name)")])
      }
    }
    var (seen, after, pages) = ([String](), "", 0)
    while true {
      let page = try await client.json("GET", "/v1/jobs/\(job)/files?limit=3\(after)")
      guard case .array(let files)? = page["files"] else { throw CancellationError() }
      seen += files.map { "\($0["attempt"]?.integer ?? 0) \($0["name"]?.string?.string ?? "")" }
      pages += 1
      guard let next = page["after"]?.string?.ascii, pages < 10 else { break }
      after = "&after=\(next)"
    }
    #expect(pages == 4 && seen.count == 10 && Set(seen).count == 10)
    #expect(
      seen
        == (1...2).flatMap { attempt in
          names.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }.map { "\(attempt) \($0)" }
        })
    let all = try await client.json("GET", "/v1/jobs/\(job)/files")
    #expect(all["after"] == .null)
    for query in [
      "limit=0", "limit=1001", "after=x", "after=f1", "after=f1z6", "after=f1zg0", "after=f1z00", "before=1",
    ] {
      #expect(try await client.send("GET", "/v1/jobs/\(job)/files?\(query)").status == 422, "\(query)")
    }
  }

  @Test func `stored files are listed, read in ranges and deleted`() async throws {
    let service = try await ServiceFixture()
    let client = try service.client("viewer")
    let job = try await service.submit()
    #expect(
      try await service.store.beginAttempt(1, of: job, id: "abc", version: "1", folder: "f", restartOf: nil))
    let key = try #require(ObjectKey("2026/\(job)/1-abc/a=3Cb.webm"))
    let stored = try await service.objects.put(Array("0123456789".utf8), at: key)
    try await service.store.note(
      FileRecord(
        job: job, attempt: 1, name: "a<b.webm", object: key.text, kind: "webm", bytes: stored.bytes,
        sha256: stored.sha256), ofAttempt: "abc", event: nil)
    let list = try await client.json("GET", "/v1/jobs/\(job)/files")
    guard case .array(let files)? = list["files"] else { throw CancellationError() }
    let url = try #require(files.first?["url"]?.string?.ascii)
    let whole = try await client.send("GET", url)
    #expect(String(decoding: whole.body, as: UTF8.self) == "0123456789")
    #expect(whole.headers["content-type"] == "video/webm")
    for (range, status, text) in [
      ("bytes=2-4", 206, "234"), ("bytes=7-", 206, "789"), ("bytes=-2", 206, "89"), ("bytes=0-99", 206, "0123456789"),
      ("bytes=1-2,4-5", 200, "0123456789"), ("lines=1-2", 200, "0123456789"),
    ] {
      let answer = try await client.send("GET", url, headers: ["Range": range])
      #expect(answer.status == status, "\(range)")
      #expect(String(decoding: answer.body, as: UTF8.self) == text, "\(range)")
    }
    let outside = try await client.send("GET", url, headers: ["Range": "bytes=10-"])
    #expect(outside.status == 416)
    #expect(outside.headers["content-range"] == "bytes */10")
    let changed = try await client.send("GET", url, headers: ["Range": "bytes=2-4", "If-Range": "\"other\""])
    #expect(changed.status == 200)
    let head = try await client.send("HEAD", url)
    #expect(head.headers["content-length"] == "10" && head.body.isEmpty)
    for name in ["..%2Fservice.db", "%2Fetc%2Fpasswd", "a%00", "recording.json", "service.db"] {
      #expect(try await client.send("GET", "/v1/jobs/\(job)/files/\(name)").status == 404, "\(name)")
    }
    let admin = try service.client("admin")
    #expect(try await admin.send("DELETE", "/v1/jobs/\(job)/recording").status == 409)
    try await service.store.finish(job, .finished, .stopped, sentence: "Stopped.")
    let deletion = Task { try await admin.send("DELETE", "/v1/jobs/\(job)/recording").status }
    while try await service.store.deletionsToDo(limit: 1).isEmpty { try await Task.sleep(for: .milliseconds(10)) }
    #expect(try await client.send("GET", url).status == 404)
    try await service.store.noteDeletion(of: job)
    #expect(try await deletion.value == 200)
  }
}
