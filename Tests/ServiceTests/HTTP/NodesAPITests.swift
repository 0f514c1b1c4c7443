import Foundation
import JSON
import JobProtocol
import NIOCore
import SQLStore
import TestSupport
import Testing

@testable import Service

@Suite struct NodesAPITests {
  private static let commonToken = "0123456789abcdef0123456789abcdef"

  /// Two services with one database, of which `b` has the job.
  private struct Pair {
    let folder: String
    let store: JobStore
    let a: ServiceFixture
    let b: ServiceFixture
    let job: JobID

    init() async throws {
      folder = FileManager.default.temporaryDirectory.appending(path: "nodes-\(UUID().uuidString)").path
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      store = try await JobStore.open("\(folder)/service.db")
      let token = try ClusterToken(NodesAPITests.commonToken)
      a = try await ServiceFixture(shared: store, node: ("a", token))
      b = try await ServiceFixture(shared: store, node: ("b", token))
      // Each of the services has a token of its own with this name.
      job = try await a.submit()
      try await store.connection.execute("UPDATE jobs SET node = 'b', state = 'running' WHERE id = $1", [job.value])
      try await join("a", port: a.port)
      try await join("b", port: b.port)
    }

    func join(_ name: String, port: Int) async throws {
      let node = NewNode(name: name, identity: name, advertise: "http://127.0.0.1:\(port)", version: "1")
      #expect(try await store.join(node))
    }
  }

  private static func status(users: Int) -> JobStatus {
    var status = JobStatus(time: 1_700_000_000_000, state: .joined)
    status.userCount = users
    return status
  }

  @Test func `what only the node of a job has is asked of it`() async throws {
    let pair = try await Pair()
    await pair.b.control.set(live: Self.status(users: 7), of: pair.job)
    await pair.b.control.set(snapshot: [0x89, 0x50, 0x4E, 0x47], of: "u v")
    let viewer = try pair.a.client("viewer")
    let live = try await viewer.json("GET", "/v1/jobs/\(pair.job)/live")
    #expect(live["userCount"] == .number(7))
    let all = try await viewer.json("GET", "/v1/live")
    #expect(all["jobs"]?[pair.job.text]?["userCount"] == .number(7))
    let picture = try await viewer.send("GET", "/v1/jobs/\(pair.job)/users/u%20v/snapshot.png")
    #expect(picture.status == 200 && picture.body == [0x89, 0x50, 0x4E, 0x47])
    #expect(picture.headers["content-type"] == "image/png")
    #expect(try await viewer.send("GET", "/v1/jobs/\(pair.job)/users/w/snapshot.png").status == 404)
    // A file of the job's log at its node.
    let attempt = "jobs/\(pair.job)/1-x"
    try FileManager.default.createDirectory(
      atPath: "\(pair.b.folder)/\(attempt)", withIntermediateDirectories: true)
    try Data("{\"message\":\"hello\"}\n".utf8).write(to: URL(fileURLWithPath: "\(pair.b.folder)/\(attempt)/log.ndjson"))
    try await pair.store.connection.execute(
      "INSERT INTO attempts (job, number, attempt_id, version, folder, started_at) VALUES ($1, 1, 'x', '1', $2, now_ms())",
      [pair.job.value, .text(attempt)])
    let log = try await viewer.send("GET", "/v1/jobs/\(pair.job)/logs?limit=5")
    #expect(String(decoding: log.body, as: UTF8.self).contains("hello"))
    // It is no stream, whatever the client would take.
    let same = try await viewer.send(
      "GET", "/v1/jobs/\(pair.job)/logs?limit=5", headers: ["Accept": "text/event-stream"])
    #expect(same.body == log.body)
    // The stream of another node's job.
    let streamed = Streamed()
    try await viewer.follow("/v1/jobs/\(pair.job)/live", after: nil) { value in
      streamed.value = value
      return false
    }
    #expect(streamed.value?["userCount"] == .number(7))
    // Another project sees nothing of it.
    #expect(try await pair.a.client("other").send("GET", "/v1/jobs/\(pair.job)/live").status == 404)
  }

  @Test func `a node with a certificate of a CA that only the settings name is asked by https`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "nodes-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (certificate, key) = ("\(folder)/cert.pem", "\(folder)/key.pem")
    let made = try ExternalTool.run(
      "openssl",
      [
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test", "-addext",
        "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
      ])
    try #require(made.status == 0, "\(made.errors)")
    let store = try await JobStore.open("\(folder)/service.db")
    let token = try ClusterToken(Self.commonToken)
    let trusting = try await ServiceFixture(shared: store, node: ("a", token), ca: certificate)
    let other = try await ServiceFixture(shared: store, node: ("c", token))
    let secure = try await ServiceFixture(shared: store, node: ("b", token)) {
      $0.tls = .init(certificate: certificate, key: key)
    }
    let job = try await trusting.submit()
    try await store.connection.execute("UPDATE jobs SET node = 'b', state = 'running' WHERE id = $1", [job.value])
    await secure.control.set(live: Self.status(users: 7), of: job)
    let node = NewNode(name: "b", identity: "b", advertise: "https://127.0.0.1:\(secure.port)", version: "1")
    #expect(try await store.join(node))
    let live = try await trusting.client("viewer").json("GET", "/v1/jobs/\(job)/live")
    #expect(live["userCount"] == .number(7))
    // Without the CA, the other node is as one that does not answer.
    let answer = try await other.client("viewer").send("GET", "/v1/jobs/\(job)/live")
    #expect(answer.status != 200 || !String(decoding: answer.body, as: UTF8.self).contains(#""userCount":7"#))
    #expect(throws: NodePeers.CAFailure.self) {
      try NodePeers(store: store, name: "a", token: token, ca: key, logger: RecordedLog().logger)
    }
  }

  @Test func `a command is carried out by the node of the job, or waits for it`() async throws {
    let pair = try await Pair()
    await pair.a.control.set(carriesOut: false)
    let client = try pair.a.client("operator")
    let body: JSONValue = .object(["users": .array(["u"])])
    let paused = try await client.send("POST", "/v1/jobs/\(pair.job)/pause", body: body)
    #expect(paused.status == 200)
    #expect(try await client.send("POST", "/v1/jobs/\(pair.job)/pause", body: .object(["x": "1"])).status == 422)
    #expect(try await pair.a.client("viewer").send("POST", "/v1/jobs/\(pair.job)/stop").status == 403)
    // The node is not heard of: the command is stored, with its body.
    try await pair.store.connection.execute("UPDATE nodes SET seen_at = 0 WHERE name = 'b'")
    let waiting = try await client.send("POST", "/v1/jobs/\(pair.job)/pause", body: body)
    #expect(waiting.status == 202)
    #expect(try await pair.store.waitingCommands(of: pair.job).map(\.argument) == [#"{"users":["u"]}"#])
    // There is no server at its address.
    try await pair.store.connection.execute(
      "UPDATE nodes SET seen_at = now_ms(), advertise = 'http://127.0.0.1:1' WHERE name = 'b'")
    #expect(try await client.send("POST", "/v1/jobs/\(pair.job)/stop").status == 202)
  }

  @Test func `the token of the nodes opens nothing but what is passed on, and no question goes round`() async throws {
    let pair = try await Pair()
    await pair.b.control.set(live: Self.status(users: 7), of: pair.job)
    let node = try pair.a.client(Self.commonToken)
    let fields = [NodePeers.projectField: "one"]
    // `a` does not have the job, and does not ask `b` for another node.
    #expect(try await node.send("GET", "/v1/jobs/\(pair.job)/live", headers: fields).status == 409)
    let live = try await node.json("GET", "/v1/live", headers: fields)
    #expect(live["jobs"] == .object([:]))
    for (method, path) in [
      ("GET", "/v1/jobs"), ("POST", "/v1/jobs"), ("GET", "/v1/jobs/\(pair.job)"), ("GET", "/v1/nodes"),
      ("POST", "/v1/nodes/a/drain"), ("DELETE", "/v1/jobs/\(pair.job)/recording"), ("GET", "/metrics"),
      ("GET", "/v1/jobs/\(pair.job)/files"),
    ] {
      #expect(try await node.send(method, path, headers: fields).status == 403, "\(method) \(path)")
    }
    // Without a project it is any wrong token.
    #expect(try await node.send("GET", "/v1/live").status == 401)
    #expect(
      try await node.send("GET", "/v1/jobs/\(pair.job)/live", headers: [NodePeers.projectField: "a b"]).status == 401)
    #expect(
      try await node.send("GET", "/v1/jobs/\(pair.job)/live", headers: [NodePeers.projectField: "two"]).status == 404)
  }

  @Test func `nodes are listed with their state, and an administrator drains one`() async throws {
    let pair = try await Pair()
    try await pair.store.connection.execute(
      "UPDATE nodes SET capacity = $1 WHERE name = 'a'",
      [.text(NodeCapacity(hasRoom: true, jobs: 3, figures: ["cpu": .init(used: 5, limit: 10)]).text)])
    try await pair.store.connection.execute("UPDATE nodes SET seen_at = seen_at - 60000 WHERE name = 'b'")
    let admin = try pair.a.client("admin")
    guard case .array(let nodes)? = try await admin.json("GET", "/v1/nodes")["nodes"] else {
      Issue.record("There is no list of nodes.")
      return
    }
    #expect(nodes.map { $0["name"] } == ["a", "b"])
    #expect(nodes.map { $0["state"] } == ["ready", "gone"])
    #expect(nodes.first?["jobs"] == .number(3))
    #expect(nodes.first?["capacity"]?["cpu"]?["limit"] == .number(10))
    #expect(nodes.allSatisfy { $0["advertise"] == nil })
    #expect(try await pair.a.client("operator").send("POST", "/v1/nodes/a/drain").status == 403)
    let drained = try await admin.json("POST", "/v1/nodes/a/drain")
    #expect(drained["state"] == "draining" && drained["draining"] == .bool(true))
    #expect(try await pair.store.nodes().first?.isDraining == true)
    #expect(try await admin.json("POST", "/v1/nodes/a/undrain")["state"] == "ready")
    #expect(try await admin.send("POST", "/v1/nodes/c/drain").status == 404)
    let figures = try await pair.store.clusterFigures()
    #expect(figures.ready == 1 && figures.gone == 1 && figures.draining == 0)
    let text = String(decoding: try await admin.send("GET", "/metrics").body, as: UTF8.self)
    #expect(text.contains("chatbot_nodes{state=\"gone\"} 1"))
    #expect(text.contains("chatbot_database_up 1"))
  }

  @Test func `a common token that is short or that others may read is refused`() throws {
    #expect(throws: ClusterToken.Failure.self) { try ClusterToken("short") }
    #expect(throws: ClusterToken.Failure.self) { try ClusterToken(String(repeating: "é", count: 40)) }
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    #expect(throws: ClusterToken.Failure.self) { try ClusterToken(file: file.path) }
    try Data("\(Self.commonToken)\n".utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
    #expect(throws: ClusterToken.Failure.self) { try ClusterToken(file: file.path) }
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    let token = try ClusterToken(file: file.path)
    #expect(token.matches(Self.commonToken))
    #expect(!token.matches(Self.commonToken + "0"))
  }

  /// What a stream gave.
  private final class Streamed: @unchecked Sendable {
    // Written before the end of the stream, and read after it.
    var value: JSONValue?
  }
}
