import SQLStore
import Testing

@Suite("Jobs that are submitted at once")
struct ConcurrentSubmissionTests {
  private let databases = TemporaryDatabases()

  private func submitHundred(
    _ kind: DatabaseKind, _ make: @escaping @Sendable () -> NewJob
  ) async throws -> (JobStore, [Submission]) {
    let store = try await databases.make(kind).open()
    let submissions = try await withThrowingTaskGroup(of: Submission.self) { group in
      for _ in 0..<100 { group.addTask { try await store.submit(make()) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    return (store, submissions)
  }

  private static func job(key: String? = nil, idempotency: String? = nil) -> NewJob {
    NewJob(
      id: .random(), project: "p", kind: "record", state: .queued, paused: "{}", request: "{}", room: "1",
      server: "main", uniqueKey: key,
      idempotency: idempotency.map { NewJob.Idempotency(key: $0, bodySHA256: "00") })
  }

  @Test("A hundred submissions of one idempotency key make one job", arguments: DatabaseKind.available)
  func idempotency(_ kind: DatabaseKind) async throws {
    let (store, submissions) = try await submitHundred(kind) { Self.job(idempotency: "once") }
    let created = submissions.compactMap { if case .created(let job) = $0 { job.id } else { nil } }
    let replayed = submissions.compactMap { if case .replayed(let job) = $0 { job.id } else { nil } }
    #expect(created.count == 1)
    #expect(replayed.count == 99)
    #expect(Set(created + replayed).count == 1)
    #expect(try await store.jobs(project: "p", limit: 200).count == 1)
  }

  @Test(
    "A hundred submissions of one unique key make one job, and the key is free when it has ended",
    arguments: DatabaseKind.available)
  func uniqueKey(_ kind: DatabaseKind) async throws {
    let (store, submissions) = try await submitHundred(kind) { Self.job(key: "room") }
    let created = submissions.compactMap { if case .created(let job) = $0 { job.id } else { nil } }
    let taken = submissions.compactMap { if case .keyTaken(let id) = $0 { id } else { nil } }
    #expect(created.count == 1)
    #expect(taken.count == 99)
    #expect(Set(created + taken).count == 1)
    try await store.connection.execute("UPDATE jobs SET state = 'finished', ended_at = now_ms()")
    guard case .created = try await store.submit(Self.job(key: "room")) else {
      Issue.record("The key of a job that has ended is taken.")
      return
    }
  }
}
