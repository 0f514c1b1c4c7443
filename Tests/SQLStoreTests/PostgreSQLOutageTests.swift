import Foundation
import JobProtocol
import SQLStore
import Synchronization
import TestSupport
import Testing

/// Counts how often something was done.
private final class Counter: Sendable {
  private let value = Mutex(0)

  var count: Int { value.withLock { $0 } }

  @discardableResult
  func add() -> Int {
    value.withLock { value in
      value += 1
      return value
    }
  }
}

/// What several tasks have submitted.
private final class Submitted: Sendable {
  let failures = Counter()
  private let state = Mutex((jobs: Set<JobID>(), hasEnded: false))

  var jobs: Set<JobID> { state.withLock { $0.jobs } }
  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  func add(_ job: JobID) { state.withLock { _ = $0.jobs.insert(job) } }
  func end() { state.withLock { $0.hasEnded = true } }
}

@Suite("PostgreSQL is installed")
struct PostgreSQLInstallationTests {
  /// `make unit` installs only what the build and the unit tests need.
  @Test(
    "The tests of the store run on PostgreSQL and pgbouncer",
    .enabled(
      if: PostgreSQLServer.isInstalled || PostgreSQLPooler.isInstalled,
      "neither postgresql-15 nor pgbouncer is installed, so the store is tested on SQLite only"))
  func installed() {
    #expect(
      DatabaseKind.available == DatabaseKind.allCases)
  }
}

@Suite(
  "Outages of PostgreSQL", .serialized, .enabled(if: PostgreSQLServer.isInstalled, "postgresql-15 is not installed"))
struct PostgreSQLOutageTests {
  private static func limits(seconds: Double = 2) -> PostgreSQLSettings.Limits {
    var limits = PostgreSQLSettings.Limits()
    (limits.patience, limits.statement) = (.seconds(seconds), .seconds(seconds))
    limits.transaction = .seconds(3 * seconds)
    return limits
  }

  private static func connect(
    _ server: PostgreSQLServer, seconds: Double = 2, connections: Int = 4, listens: Bool = false
  ) throws -> PostgreSQLConnection {
    PostgreSQLConnection(
      try PostgreSQLSettings(
        url: server.url(try server.makeDatabase()), connections: connections, listens: listens,
        limits: limits(seconds: seconds)))
  }

  private static func kind(of body: () async throws -> Void) async -> SQLError.Kind? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? SQLError)?.kind
    }
  }

  @Test("A server that ends and begins again is an outage with an end, and later calls do not wait")
  func restart() async throws {
    let server = try PostgreSQLServer()
    let connection = try Self.connect(server)
    try await connection.execute("CREATE TABLE t (a BIGINT NOT NULL)")
    for signal in ["INT", "QUIT"] {
      server.stop(signal)
      let start = ContinuousClock.now
      #expect(await Self.kind { try await connection.execute("INSERT INTO t (a) VALUES (1)") } == .unreachable)
      #expect(ContinuousClock.now - start < .seconds(5))
      try await Task.sleep(for: .seconds(2))
      // The outage is known: most calls fail at once.
      let later = ContinuousClock.now
      for _ in 0..<20 {
        let kind = await Self.kind { _ = try await connection.transaction { try $0.execute("SELECT 1 AS one") } }
        #expect(kind == .unreachable)
      }
      #expect(ContinuousClock.now - later < .seconds(4))
      try server.start()
      var isBack = false
      for _ in 0..<100 where !isBack {
        isBack = await Self.kind { try await connection.execute("INSERT INTO t (a) VALUES (1)") } == nil
        if !isBack { try await Task.sleep(for: .milliseconds(100)) }
      }
      #expect(isBack)
    }
    await connection.close()
  }

  @Test("A connection that the server ended is made again without an error")
  func terminated() async throws {
    let server = try PostgreSQLServer.shared.get()
    let connection = try Self.connect(server)
    try await connection.execute("CREATE TABLE t (a BIGINT NOT NULL)")
    for _ in 0..<5 {
      _ = try await connection.execute(
        "SELECT COUNT(*) AS count FROM (SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
          + "AND datname = current_database()) AS ended")
      // A connection that the server is about to end may take a statement, and lose its answer.
      try await Task.sleep(for: .milliseconds(500))
      try await connection.transaction { _ = try $0.execute("INSERT INTO t (a) VALUES (1)") }
      try await connection.execute("INSERT INTO t (a) VALUES (2)")
    }
    #expect(try await connection.execute("SELECT * FROM t").count == 10)
    // The connection is lost within the transaction, before it is committed: it is repeated.
    let tries = Counter()
    try await connection.transaction { transaction in
      try transaction.execute("INSERT INTO t (a) VALUES (3)")
      if tries.add() == 1 { try transaction.execute("SELECT pg_terminate_backend(pg_backend_pid())") }
    }
    #expect(tries.count == 2)
    #expect(try await connection.execute("SELECT * FROM t WHERE a = 3").count == 1)
    await connection.close()
  }

  @Test("Transactions that wait for each other are tried again, and both succeed")
  func deadlock() async throws {
    let server = try PostgreSQLServer.shared.get()
    let connection = try Self.connect(server, seconds: 5)
    try await connection.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, a BIGINT NOT NULL)")
    try await connection.execute("INSERT INTO t (id, a) VALUES (1, 0), (2, 0)")
    let tries = Counter()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for order in [[1, 2], [2, 1]] {
        group.addTask {
          try await connection.transaction { transaction in
            tries.add()
            for id in order {
              try transaction.execute("UPDATE t SET a = a + 1 WHERE id = $1", [.integer(id)])
              usleep(100_000)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(tries.count >= 3)
    #expect(try await connection.execute("SELECT a FROM t").map(\.values) == [[.integer(2)], [.integer(2)]])
    await connection.close()
  }

  @Test("A statement that waits for a lock ends in time, and the connection goes on")
  func lock() async throws {
    let server = try PostgreSQLServer.shared.get()
    let url = server.url(try server.makeDatabase())
    let patient = PostgreSQLConnection(try PostgreSQLSettings(url: url, listens: false))
    let hurried = PostgreSQLConnection(
      try PostgreSQLSettings(url: url, listens: false, limits: Self.limits(seconds: 2)))
    try await patient.execute("CREATE TABLE t (a BIGINT NOT NULL)")
    try await patient.execute("INSERT INTO t (a) VALUES (1)")
    let (locked, isLocked) = AsyncStream<Void>.makeStream()
    let release = DispatchSemaphore(value: 0)
    async let holding: Void = patient.transaction { transaction in
      try transaction.execute("UPDATE t SET a = 2")
      isLocked.finish()
      release.wait()
    }
    for await _ in locked {}
    let start = ContinuousClock.now
    #expect(await Self.kind { try await hurried.execute("UPDATE t SET a = 3") } == .unreachable)
    #expect(await Self.kind { try await hurried.transaction { _ = try $0.execute("UPDATE t SET a = 4") } } == .busy)
    #expect(ContinuousClock.now - start < .seconds(6))
    release.signal()
    try await holding
    // Neither waited on at the server and took effect later.
    #expect(try await hurried.execute("UPDATE t SET a = a + 10 RETURNING a").first?.integer("a") == 12)
    await hurried.close()
    await patient.close()
  }

  @Test("The locks of a transaction that stands still end by themselves")
  func frozen() async throws {
    let server = try PostgreSQLServer.shared.get()
    let connection = try Self.connect(server, seconds: 1)
    try await connection.execute("CREATE TABLE t (a BIGINT NOT NULL)")
    try await connection.execute("INSERT INTO t (a) VALUES (1)")
    let kind = await Self.kind {
      try await connection.transaction { transaction in
        try transaction.execute("UPDATE t SET a = 2")
        // As if the process were stopped.
        sleep(3)
        try transaction.execute("UPDATE t SET a = 3")
      }
    }
    #expect(kind == .unreachable)
    #expect(try await connection.execute("UPDATE t SET a = a + 10 RETURNING a").first?.integer("a") == 11)
    await connection.close()
  }

  @Test("An address where nobody answers, and a server that says nothing, are unreachable in time")
  func silent() async throws {
    let port = try ServerPort.unused()
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = UInt16(port).bigEndian
    let isBound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    #expect(isBound)
    listen(listener, 5)
    let refusing = try ServerPort.unused()
    for port in [port, refusing] {
      let connection = PostgreSQLConnection(
        try PostgreSQLSettings(
          url: "postgresql://chatbot@127.0.0.1:\(port)/none?sslmode=disable", connections: 2, listens: false,
          limits: Self.limits()))
      let start = ContinuousClock.now
      #expect(await Self.kind { try await connection.execute("SELECT 1 AS one") } == .unreachable)
      #expect(ContinuousClock.now - start < .seconds(6))
      await connection.close()
      #expect(await Self.kind { try await connection.execute("SELECT 1 AS one") } == .closed)
    }
  }

  @Test("Of several hosts, the one that writes is used")
  func hosts() async throws {
    let server = try PostgreSQLServer.shared.get()
    let readOnly = try PostgreSQLServer(settings: ["default_transaction_read_only=on"])
    let refusing = try ServerPort.unused()
    let connection = PostgreSQLConnection(
      try PostgreSQLSettings(
        url: "postgresql://chatbot@127.0.0.1:\(refusing),127.0.0.1:\(readOnly.port),127.0.0.1:\(server.port)/postgres",
        listens: false, limits: Self.limits()))
    try await connection.execute("CREATE TABLE written (a BIGINT NOT NULL)")
    #expect(try server.run("SELECT COUNT(*) FROM written") == "0")
    #expect(try readOnly.run("SELECT to_regclass('written') IS NULL") == "t")
    await connection.close()
  }

  @Test("A standby that is promoted takes over, and has all that was acknowledged if it is synchronous")
  func failover() async throws {
    let primary = try PostgreSQLServer()
    let standby = try PostgreSQLServer(standbyOf: primary)
    let hosts = "127.0.0.1:\(primary.port),127.0.0.1:\(standby.port)"
    let settings = try PostgreSQLSettings(
      url: "postgresql://chatbot@\(hosts)/postgres", connections: 4, listens: false, limits: Self.limits(seconds: 3))
    let store = try await JobStore.open(settings)
    try primary.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
    try primary.run("SELECT pg_reload_conf()")
    let submitted = Submitted()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          while !submitted.hasEnded {
            let job = NewJob(
              id: .random(), project: "p", kind: "record", state: .queued, paused: "{}", request: "{}", room: "1",
              server: "main")
            if let submission = try? await store.submit(job), case .created = submission {
              submitted.add(job.id)
            } else {
              submitted.failures.add()
            }
          }
        }
      }
      try? await Task.sleep(for: .seconds(1))
      primary.stop("QUIT")
      try? await Task.sleep(for: .seconds(1))
      _ = try? standby.run("SELECT pg_promote()")
      let before = submitted.jobs.count
      for _ in 0..<150 where submitted.jobs.count < before + 20 {
        try? await Task.sleep(for: .milliseconds(100))
      }
      #expect(submitted.jobs.count >= before + 20)
      submitted.end()
    }
    #expect(submitted.failures.count > 0)
    let rows = try await store.connection.execute("SELECT id FROM jobs")
    let found = Set(try rows.map { try $0.text("id") })
    #expect(submitted.jobs.allSatisfy { found.contains($0.text) })
    await store.connection.close()
  }

  @Test("A password is read from its file, and a wrong one is an error that does not show it")
  func password() async throws {
    let server = try PostgreSQLServer.shared.get()
    let name = try server.makeDatabase()
    try server.run("CREATE ROLE guarded LOGIN PASSWORD 'right one'")
    let hba = "\(server.folder)/data/pg_hba.conf"
    let before = try String(contentsOfFile: hba, encoding: .utf8)
    try Data(("host all guarded 127.0.0.1/32 scram-sha-256\n" + before).utf8).write(to: URL(fileURLWithPath: hba))
    if getuid() == 0 { _ = try ExternalTool.run("chown", ["postgres:", hba]) }
    try server.run("SELECT pg_reload_conf()")
    usleep(200_000)
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    let url = "postgresql://guarded@127.0.0.1:\(server.port)/\(name)"
    let settings = try PostgreSQLSettings(
      url: url, passwordFile: file.path, connections: 1, listens: false, limits: Self.limits())
    let connection = PostgreSQLConnection(settings)
    #expect(await Self.kind { try await connection.execute("SELECT 1 AS one") } == .unreachable)
    try Data("wrong one\n".utf8).write(to: file)
    let error = await #expect(throws: SQLError.self) { try await connection.execute("SELECT 1 AS one") }
    #expect(error?.kind == .unreachable)
    #expect(error?.description.contains("wrong one") == false)
    try Data("right one\n".utf8).write(to: file)
    var isConnected = false
    for _ in 0..<50 where !isConnected {
      isConnected = await Self.kind { try await connection.execute("SELECT 1 AS one") } == nil
      if !isConnected { try await Task.sleep(for: .milliseconds(100)) }
    }
    #expect(isConnected)
    await connection.close()
  }

  @Test(
    "A URL with a password or with what a pooler does not pass on is refused",
    arguments: [
      "mysql://a/b", "postgresql://user:secret@host/db", "postgresql://host/db?password=secret",
      "postgresql://host/db?sslpassword=secret",
      "postgresql://host/db?options=-c%20x%3D1", "postgresql://host/db?client_encoding=LATIN1",
      "postgresql://host/db?unknown=1", "postgresql://[::1/db", "postgresql://host/%00", "",
    ])
  func badURL(_ url: String) {
    let problem = PostgreSQLSettings.problem(url)
    #expect(problem != nil)
    #expect(problem?.contains("secret") != true)
    #expect(throws: SQLError.self) { _ = try PostgreSQLSettings(url: url) }
  }

  @Test(
    "Who listens hears of jobs that wait for a node, of commands, events and deliveries of others, and of nothing else")
  func notifications() async throws {
    let server = try PostgreSQLServer.shared.get()
    let url = server.url(try server.makeDatabase())
    let store = try await JobStore.open(try PostgreSQLSettings(url: url, listens: false))
    let listening = PostgreSQLConnection(try PostgreSQLSettings(url: url))
    let heard = Mutex<[SQLTopic: Int]>([:])
    listening.changes { topic in heard.withLock { $0[topic, default: 0] += 1 } }
    func wait(_ body: ([SQLTopic: Int]) -> Bool) async throws -> Bool {
      for _ in 0..<200 {
        if heard.withLock({ body($0) }) { return true }
        try await Task.sleep(for: .milliseconds(20))
      }
      return false
    }
    // What changed before is told at the start.
    #expect(try await wait { $0.count == SQLTopic.allCases.count })
    heard.withLock { $0 = [:] }
    var job = NewJob(
      id: .random(), project: "p", kind: "record", state: .starting, paused: "{}", request: "{}", room: "1",
      server: "main")
    // A node has this one already.
    job.node = "a"
    _ = try await store.submit(job)
    (job.id, job.state, job.node) = (.random(), .queued, nil)
    _ = try await store.submit(job)
    #expect(try await wait { $0[.jobs] == 1 })
    _ = try await store.request(.stop, of: job.id, project: "p")
    #expect(try await wait { $0[.commands] == 1 })
    try await store.finish(job.id, .finished, .stopped, sentence: "It was stopped.")
    #expect(try await wait { $0[.events] == 1 })
    job.id = .random()
    job.webhooks = [.init(url: "https://a.example/", origin: "https://a.example", events: [.all], secret: "s")]
    _ = try await store.submit(job)
    try await store.finish(job.id, .finished, .stopped, sentence: "It was stopped.")
    #expect(try await wait { $0[.deliveries] == 1 })
    #expect(heard.withLock { $0 } == [.jobs: 2, .commands: 1, .events: 2, .deliveries: 1])
    // The connection that listens is made again.
    try server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
    #expect(try await wait { ($0[.jobs] ?? 0) >= 3 })
    await listening.close()
    await store.connection.close()
  }
}
