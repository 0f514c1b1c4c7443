import Foundation
import JobProtocol
import SQLStore
import Service
import Testing

@Suite("Jobs that bring their nodes down, with real processes", .serialized)
struct CrashingNodesTests {
  @Test(
    "The job ends for the reason crashing with the fifth loss of its node, and what it recorded is stored",
    arguments: TestDatabase.available)
  func limit(database: TestDatabase) async throws {
    let cluster = try await TestCluster(["a", "b"], database)
    let (a, b) = (cluster.nodes[0], cluster.nodes[1])
    let job = try await cluster.submit(to: a)
    #expect(try await cluster.eventually { try await cluster.isRunning(job, on: a, attempt: 1) })
    // Four nodes before this one.
    try await cluster.store.connection.execute("UPDATE jobs SET failures = 4")
    try await Task.sleep(for: .milliseconds(TestCluster.lease))
    a.connection.isCut = true
    #expect(try await cluster.eventually { try await cluster.job(job).state == .storing })
    let taken = try await cluster.job(job)
    #expect(taken.node == "b" && taken.attempt == 1 && taken.reason == "crashing")
    let attempt = try await cluster.attempts(job)[0]
    // The node was only cut off: its process ends when it hears of it, and its files are stored.
    a.connection.isCut = false
    #expect(try await cluster.eventually { !cluster.isAlive(attempt) })
    #expect(try await cluster.eventually { try await cluster.job(job).state == .failed })
    let ended = try await cluster.job(job)
    #expect(ended.reason == "crashing" && ended.sentence?.contains("5 times in a row") == true)
    #expect(try await cluster.attempts(job).count == 1)
    #expect(try await cluster.attempts(job)[0].storedAt != nil)
    #expect(try await cluster.events(job).last == "job.failed")
    #expect(await b.supervisor.live(job) == nil)
    try await cluster.end()
  }
}
