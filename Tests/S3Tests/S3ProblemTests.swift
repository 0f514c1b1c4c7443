import Foundation
import ObjectStore
import S3
import Synchronization
import Testing

/// What a store that cannot be used is reported as.
@Suite struct S3ProblemTests {
  private let folder: TemporaryFolder
  private let mebi = 1 << 20

  init() throws { folder = try TemporaryFolder() }

  private func key(_ text: String) throws -> ObjectKey { try #require(ObjectKey(text)) }

  @Test func whatIsRefusedIsAProblemAtOnceAndUntilItWorks() async throws {
    let test = try StoreUnderTest()
    test.model.change { $0.intercept = { _, _ in S3Response(status: 403) } }
    let error = await #expect(throws: ObjectStoreError.self) {
      try await test.store.put(Array("one".utf8), at: try key("a"))
    }
    #expect(error?.kind == .refused)
    #expect(test.clock.pauses.withLock { $0.isEmpty })
    let problem = try #require(test.store.problem)
    #expect(problem.contains("403") && problem.contains("must allow s3:GetObject and s3:ListBucket"))
    test.model.change { $0.intercept = nil }
    try await test.store.probe()
    #expect(test.store.problem == nil)
  }

  @Test func aProblemDoesNotHaveWhatTheServerSaysInItsOwnWords() async throws {
    let test = try StoreUnderTest()
    let answer = S3Response(
      status: 403,
      body: Array("<Error><Code>AccessDenied</Code><Message>User: arn:aws:iam::1:user/x</Message></Error>".utf8))
    test.model.change { $0.intercept = { _, _ in answer } }
    let error = await #expect(throws: ObjectStoreError.self) { try await test.store.open(try key("a")) }
    #expect(error?.description.contains("arn:aws:iam::1:user/x") == true)
    let problem = try #require(test.store.problem)
    #expect(problem.contains("(AccessDenied)") && problem.contains("s3:GetObject") && !problem.contains("arn:"))
  }

  @Test func whatFormerTestsHaveLeftIsRemovedAtTheNextStart() async throws {
    let test = try StoreUnderTest()
    let now = test.clock.now.milliseconds
    func name(_ age: Int64) -> String { "pre/fix/chatbot-probe/\(now - age)-x" }
    let left = ["pre/fix/chatbot-probe/1x0ab", "pre/fix/chatbot-probe/a-b", name(3_600_001), name(90_000_000)]
    // Those of tests that another service makes at the moment, and what is not below the folder.
    let kept = [name(3_500_000), name(-600_000), "pre/fix/chatbot-probes", "chatbot-probe/1x0ab"]
    test.model.change { state in
      for key in left + kept { state.objects[key] = ModelStore.Object(bytes: [], headers: [:]) }
    }
    try await test.store.probe()
    #expect(Set(test.model.objects.keys) == Set(kept))
    #expect(test.store.problem == nil)
  }

  @Test func aKeyThatIsTooLongIsRefusedWithoutARequest() async throws {
    let test = try StoreUnderTest()
    #expect(test.store.maximumKeyBytes == 1_024 - "pre/fix/".utf8.count)
    let part = String(repeating: "a", count: 253)
    let fits = try key([part, part, part, part].joined(separator: "/"))
    let long = try key(fits.text + "b")
    #expect(fits.text.utf8.count == 1_015 && long.text.utf8.count == 1_016)
    _ = try await test.store.put(Array("one".utf8), at: long)
    let tooLong = try key(fits.text + "bb")
    let count = test.model.requests.count
    for body in [
      { _ = try await test.store.put(Array("one".utf8), at: tooLong) },
      { _ = try await test.store.put(try self.folder.file("a", bytes: 9), at: tooLong) },
      { _ = try await test.store.open(tooLong) }, { try await test.store.delete(tooLong) },
    ] as [() async throws -> Void] {
      let error = await #expect(throws: ObjectStoreError.self) { try await body() }
      #expect(error?.kind == .keyTooLong)
      #expect(error?.description.contains("1016 bytes that are left behind the prefix") == true)
    }
    #expect(test.model.requests.count == count)
  }

  @Test func aWrongRegionIsNamed() async throws {
    let test = try StoreUnderTest()
    let answers = [
      ModelStore.error(301, "PermanentRedirect"),
      S3Response(status: 301, headers: [("x-amz-bucket-region", "eu-west-3")]),
      S3Response(status: 400, headers: [("X-Amz-Bucket-Region", "eu-west-3")]),
      ModelStore.error(400, "AuthorizationHeaderMalformed", "<Region>eu-west-3</Region>"),
    ]
    for (number, answer) in answers.enumerated() {
      test.model.change { $0.intercept = { _, _ in answer } }
      let error = await #expect(throws: ObjectStoreError.self) { try await test.store.probe() }
      #expect(error?.kind == .refused)
      let problem = try #require(test.store.problem)
      #expect(
        problem.contains(
          number == 0 ? "region eu-central-1 or the endpoint" : "in the region eu-west-3, not in eu-central-1"))
    }
  }

  @Test func aServerThatIsNoStoreIsAProblem() async throws {
    let test = try StoreUnderTest()
    test.model.change { $0.intercept = { _, _ in S3Response(status: 404, body: Array("<html>".utf8)) } }
    for bytes in [3, 17 * mebi] {
      let file = try folder.file("a", bytes: bytes)
      let error = await #expect(throws: ObjectStoreError.self) { try await test.store.put(file, at: try key("a")) }
      #expect(error?.kind == .refused)
      #expect(test.store.problem?.contains("endpoint and pathStyle") == true)
    }
    let missing = await #expect(throws: ObjectStoreError.self) { try await test.store.open(try key("a")) }
    #expect(missing?.kind == .missing)
  }

  @Test func anErrorMayBeLongerThanTheObjectThatIsRead() async throws {
    let test = try StoreUnderTest()
    _ = try await test.store.put(Array("one".utf8), at: try key("a"))
    #expect(try await test.store.open(try key("a")).readAll(limit: 10) == Array("one".utf8))
    let get = try #require(test.model.requests.last { $0.method == "GET" })
    #expect(get.maximumAnswer >= 4_096)
  }

  @Test func textOfAServerIsEscaped() async throws {
    let test = try StoreUnderTest()
    let answer = S3Response(
      status: 403, body: Array("<Error><Code>No</Code><Message>a\u{1B}[31m\nb\u{202E}</Message></Error>".utf8))
    test.model.change { $0.intercept = { _, _ in answer } }
    await #expect(throws: ObjectStoreError.self) { try await test.store.probe() }
    let problem = try #require(test.store.problem)
    #expect(problem.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E })
  }
}
