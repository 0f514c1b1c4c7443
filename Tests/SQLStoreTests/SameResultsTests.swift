import SQLStore
import Testing

/// The SQL of both databases is the same, and so is what it does.
@Suite("The same calls on each database", .enabled(if: DatabaseKind.available.count > 1))
struct SameResultsTests {
  private static let cases: UInt64 = 200
  private static let steps = 16

  @Test("200 random sequences of calls return the same with SQLite, with PostgreSQL and through a pooler")
  func sequences() async throws {
    let results = try await withThrowingTaskGroup(of: (DatabaseKind, [[String]]).self) { group in
      for kind in DatabaseKind.available { group.addTask { (kind, try await Self.results(kind)) } }
      return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    let expected = try #require(results[.sqlite])
    #expect(expected.count == Self.cases && expected.allSatisfy { $0.count > Self.steps })
    for (kind, found) in results where kind != .sqlite {
      for (number, (lines, expected)) in zip(found, expected).enumerated() where lines != expected {
        let different = zip(lines, expected).first { $0 != $1 }
        Issue.record("case \(number + 1), \(kind): \(different?.0 ?? "") instead of \(different?.1 ?? "")")
      }
    }
  }

  private static func results(_ kind: DatabaseKind) async throws -> [[String]] {
    let database = try TemporaryDatabase(kind)
    let clock = DatabaseClock(1_700_000_000_000)
    let connection = ClockedConnection(try await database.connect(connections: 1)) { clock.now }
    try await SQLSchema.migrate(connection)
    let store = JobStore(connection)
    var results: [[String]] = []
    for seed in 1...cases {
      var calls = RandomCalls(store, clock: clock, seed: seed)
      try await calls.run(steps: steps)
      results.append(calls.lines)
    }
    await connection.close()
    return results
  }
}
