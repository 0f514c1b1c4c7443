import Foundation
import ObjectStore
import S3
import Synchronization
import Testing

@Suite struct S3ObjectStoreTests {
  private let folder: TemporaryFolder
  private let mebi = 1 << 20

  init() throws { folder = try TemporaryFolder() }

  private func key(_ text: String) throws -> ObjectKey { try #require(ObjectKey(text)) }

  private func methods(_ model: ModelStore) -> [String] {
    model.requests.map { request in
      let query = URLComponents(string: request.url)?.queryItems?.map(\.name).joined(separator: "&") ?? ""
      return request.method + (query.isEmpty ? "" : " \(query)")
    }
  }

  // MARK: Storing

  @Test func aFileIsStoredWithItsDigestUnderThePrefix() async throws {
    let test = try StoreUnderTest()
    let object = try await test.store.put(try folder.file("a.webm", bytes: 1_000), at: try key("d/a.webm"))
    let content = try folder.content("a.webm")
    #expect(object == StoredObject(bytes: 1_000, sha256: ObjectDigest.hex(of: content)))
    let stored = try #require(test.model.objects["pre/fix/d/a.webm"])
    #expect(stored.bytes == content)
    #expect(stored.headers["x-amz-meta-chatbot-sha256"] == object.sha256)
    #expect(stored.headers["content-type"] == "video/webm")
    let put = try #require(test.model.requests.first { $0.method == "PUT" })
    #expect(put.url == "http://127.0.0.1:9000/bucket/pre/fix/d/a.webm")
    #expect(put.headers.contains { $0 == ("if-none-match", "*") })
    #expect(test.model.requests.last?.method == "HEAD")
  }

  @Test func theSameContentCountsAsStoredAndAnotherOneIsAConflict() async throws {
    let test = try StoreUnderTest()
    let key = try key("a")
    let first = try await test.store.put(Array("one".utf8), at: key)
    #expect(try await test.store.put(Array("one".utf8), at: key) == first)
    #expect(try await test.store.put(try folder.file("three", bytes: 3), at: try self.key("b")).bytes == 3)
    for other in ["two", "longer"] {
      let error = await #expect(throws: ObjectStoreError.self) { try await test.store.put(Array(other.utf8), at: key) }
      #expect(error?.kind == .exists)
    }
    #expect(test.model.objects["pre/fix/a"]?.bytes == Array("one".utf8))
    #expect(test.model.state.withLock { $0.overwritten.isEmpty })
  }

  @Test func aProbedStoreNeedsTwoRequestsForASmallObject() async throws {
    let test = try StoreUnderTest()
    try await test.store.probe()
    #expect(test.model.objects.isEmpty)
    #expect(test.model.state.withLock { $0.uploads.isEmpty })
    let before = test.model.requests.count
    _ = try await test.store.put(Array("one".utf8), at: try key("a"))
    #expect(methods(test.model).dropFirst(before) == ["PUT", "HEAD"])
    // The object exists, as 412 says.
    await #expect(throws: ObjectStoreError.self) { try await test.store.put(Array("two".utf8), at: try key("a")) }
  }

  @Test func aStoreWithoutConditionalWritesIsAskedBeforeEachOne() async throws {
    let test = try StoreUnderTest()
    test.model.change { $0.isConditional = false }
    try await test.store.probe()
    #expect(test.model.objects.isEmpty)
    let file = try folder.file("a", bytes: 17 * mebi)
    for name in ["a", "b"] {
      _ = try await test.store.put(Array("one".utf8), at: try key(name))
      let bytes = await #expect(throws: ObjectStoreError.self) {
        try await test.store.put(Array("two".utf8), at: try key(name))
      }
      let parts = await #expect(throws: ObjectStoreError.self) { try await test.store.put(file, at: try key(name)) }
      #expect(bytes?.kind == .exists && parts?.kind == .exists)
    }
    #expect(test.model.state.withLock { $0.overwritten.isEmpty })
  }

  @Test func aStoreThatDoesNotKnowTheConditionIsSentNone() async throws {
    let test = try StoreUnderTest()
    test.model.change { state in
      state.isConditional = false
      state.intercept = { request, _ in
        request.headers.contains { $0.name == "if-none-match" } ? ModelStore.error(501, "NotImplemented") : nil
      }
    }
    try await test.store.probe()
    let object = try await test.store.put(try folder.file("a", bytes: 33 * mebi), at: try key("a"))
    #expect(test.model.objects["pre/fix/a"]?.bytes.count == Int(object.bytes))
    _ = try await test.store.put(Array("one".utf8), at: try key("b"))
    #expect(test.store.problem == nil)
  }

  @Test func encryptionIsAskedForWithEachObject() async throws {
    let test = try StoreUnderTest { $0.serverSideEncryption = .kms(key: "k1") }
    _ = try await test.store.put(Array("one".utf8), at: try key("a"))
    _ = try await test.store.put(try folder.file("b", bytes: 17 * mebi), at: try key("b"))
    for name in ["a", "b"] {
      let headers = test.model.objects["pre/fix/\(name)"]?.headers
      #expect(headers?["x-amz-server-side-encryption"] == "aws:kms")
      #expect(headers?["x-amz-server-side-encryption-aws-kms-key-id"] == "k1")
    }
  }

  @Test func anEmptyFileIsAnObject() async throws {
    let test = try StoreUnderTest()
    _ = try await test.store.put(try folder.file("a", bytes: 0), at: try key("a"))
    #expect(try await test.store.open(try key("a")).readAll(limit: 10).isEmpty)
  }

  // MARK: Parts

  @Test func aFileOf16MebibytesIsSentAtOnceAndALargerOneInParts() async throws {
    let test = try StoreUnderTest()
    _ = try await test.store.put(try folder.file("a", bytes: 16 * mebi), at: try key("a"))
    #expect(methods(test.model).filter { $0 == "PUT" }.count == 1)
    _ = try await test.store.put(try folder.file("b", bytes: 48 * mebi + 1), at: try key("b"))
    let parts = methods(test.model).filter { $0.hasPrefix("PUT ") }
    #expect(parts.count == 4)
    let stored = try #require(test.model.objects["pre/fix/b"])
    #expect(stored.bytes == (try folder.content("b")))
    #expect(stored.headers["x-amz-meta-chatbot-sha256"] == ObjectDigest.hex(of: stored.bytes))
    let complete = try #require(test.model.requests.last { $0.method == "POST" })
    #expect(complete.headers.contains { $0 == ("if-none-match", "*") })
    #expect(await test.ledger.uploadID(of: try key("b")) == nil)
  }

  @Test func anUploadGoesOnAfterTheEndOfTheProgram() async throws {
    let test = try StoreUnderTest()
    let key = try key("b")
    let file = try folder.file("b", bytes: 80 * mebi)
    // The program ends with the third part.
    test.model.change { state in
      state.intercept = { request, _ in
        if request.url.contains("partNumber=3") { throw CancellationError() }
        return nil
      }
    }
    await #expect(throws: CancellationError.self) { try await test.store.put(file, at: key) }
    let sent = test.model.state.withLock { $0.uploads.values.first?.parts.count ?? 0 }
    #expect(sent > 0 && sent < 5)
    test.model.change {
      $0.intercept = nil
      $0.requests = []
    }
    let next = try StoreUnderTest(test.model, ledger: test.ledger)
    _ = try await next.store.put(file, at: key)
    #expect(methods(test.model).filter { $0.hasPrefix("PUT ") }.count == 5 - sent)
    #expect(!methods(test.model).contains("POST uploads"))
    #expect(test.model.objects["pre/fix/b"]?.bytes == (try folder.content("b")))
  }

  @Test func partsOfAFileThatWasChangedAreNotUsed() async throws {
    let test = try StoreUnderTest()
    let key = try key("b")
    test.model.change { state in
      state.intercept = { request, _ in
        if request.url.contains("partNumber=2") { throw CancellationError() }
        return nil
      }
    }
    let file = try folder.file("b", bytes: 40 * mebi)
    await #expect(throws: CancellationError.self) { try await test.store.put(file, at: key) }
    test.model.change { $0.intercept = nil }
    let changed = try folder.file("c", bytes: 40 * mebi, seed: 7)
    _ = try await test.store.put(changed, at: key)
    #expect(test.model.objects["pre/fix/b"]?.bytes == (try folder.content("c")))
    #expect(test.model.state.withLock { $0.uploads.isEmpty })
  }

  @Test(arguments: ["NoSuchUpload", "InvalidPart"])
  func anUploadThatTheStoreHasLostBeginsAgain(_ code: String) async throws {
    let test = try StoreUnderTest()
    let isFirst = Mutex(true)
    test.model.change { state in
      state.intercept = { request, state in
        guard request.method == "POST", request.url.contains("uploadId="), isFirst.withLock({ $0 }) else { return nil }
        isFirst.withLock { $0 = false }
        if code == "NoSuchUpload" { state.uploads = [:] }
        return ModelStore.error(code == "NoSuchUpload" ? 404 : 400, code)
      }
    }
    _ = try await test.store.put(try folder.file("b", bytes: 20 * mebi), at: try key("b"))
    #expect(test.model.objects["pre/fix/b"]?.bytes == (try folder.content("b")))
    #expect(test.model.state.withLock { $0.uploads.isEmpty })
  }

  @Test func aConflictInPartsLeavesNoParts() async throws {
    let test = try StoreUnderTest()
    try await test.store.probe()
    test.model.change { state in
      state.intercept = { request, state in
        // Another one is faster.
        if request.url.contains("partNumber=1") {
          state.objects["pre/fix/b"] = ModelStore.Object(bytes: [1], headers: [:])
        }
        return nil
      }
    }
    let file = try folder.file("b", bytes: 20 * mebi)
    let error = await #expect(throws: ObjectStoreError.self) { try await test.store.put(file, at: try key("b")) }
    #expect(error?.kind == .exists)
    #expect(test.model.objects["pre/fix/b"]?.bytes == [1])
    #expect(test.model.state.withLock { $0.uploads.isEmpty })
  }

  // MARK: Faults

  @Test(arguments: 1...12)
  func allIsStoredOnceWhateverFails(_ seed: UInt64) async throws {
    let model = ModelStore(seed: seed, faultRate: 0.5)
    let test = try StoreUnderTest(model)
    for number in 0..<6 {
      let bytes = number == 5 ? (seed <= 4 ? 33 * mebi : 5_000) : 1_000 * number
      let object = try await test.store.put(try folder.file("\(number)", bytes: bytes), at: try key("d/\(number)"))
      #expect(object.bytes == Int64(bytes))
    }
    model.change { $0.faultRate = 0 }
    #expect(model.state.withLock { $0.overwritten.isEmpty })
    #expect(model.objects.count == 6)
    for number in 0..<6 {
      #expect(model.objects["pre/fix/d/\(number)"]?.bytes == (try folder.content("\(number)")))
    }
    #expect(test.store.problem == nil)
  }

  @Test func aStoreThatIsAwayForTenMinutesIsWaitedFor() async throws {
    let test = try StoreUnderTest()
    let clock = test.clock
    let back = UTCTime(milliseconds: clock.now.milliseconds + 600_000)
    test.model.change { state in
      state.intercept = { _, _ in
        if clock.now.milliseconds < back.milliseconds { throw S3TransportError.connection("refused") }
        return nil
      }
    }
    _ = try await test.store.put(Array("one".utf8), at: try key("a"))
    #expect(test.model.objects.count == 1)
    let pauses = clock.pauses.withLock { $0 }
    #expect(pauses.allSatisfy { $0 >= .milliseconds(500) && $0 <= .seconds(60) })
    #expect(pauses.count < 25)
    // Reads do not wait that long.
    test.model.change { $0.intercept = { _, _ in throw S3TransportError.timeout } }
    let error = await #expect(throws: ObjectStoreError.self) { try await test.store.open(try key("a")) }
    #expect(error?.kind == .timeout)
  }

  /// A server that refuses a request before it has read the body, and closes the connection.
  @Test(arguments: [1_000, 20 << 20]) func anAnswerThatIsLostEachTimeIsFoundOutWithoutABody(_ bytes: Int) async throws {
    let test = try StoreUnderTest()
    try await test.store.probe()
    test.model.change { state in
      state.intercept = { request, state in
        guard request.method == "PUT" else { return nil }
        if bytes == 1_000 { state.objects["pre/fix/a"] = ModelStore.Object(bytes: [1], headers: [:]) }
        if bytes != 1_000, state.nextUpload == 3 { state.uploads = [:] }
        if bytes != 1_000, state.nextUpload > 3 { return nil }
        throw S3TransportError.connection("reset")
      }
    }
    let file = try folder.file("a", bytes: bytes)
    if bytes == 1_000 {
      let error = await #expect(throws: ObjectStoreError.self) { try await test.store.put(file, at: try key("a")) }
      #expect(error?.kind == .exists)
    } else {
      _ = try await test.store.put(file, at: try key("a"))
      #expect(test.model.objects["pre/fix/a"]?.bytes == (try folder.content("a")))
    }
  }

  @Test func anObjectThatIsNotWholeAfterItWasStoredIsReported() async throws {
    let test = try StoreUnderTest()
    test.model.change { state in
      state.intercept = { request, state in
        if request.method == "HEAD", let object = state.objects["pre/fix/a"], object.bytes.count > 2 {
          state.objects["pre/fix/a"]?.bytes.removeLast()
        }
        return nil
      }
    }
    let error = await #expect(throws: ObjectStoreError.self) {
      try await test.store.put(Array("one".utf8), at: try key("a"))
    }
    #expect(error?.kind == .exists)
  }

  // MARK: Reading and deleting

  @Test func partsOfAnObjectAreReadInBlocks() async throws {
    let test = try StoreUnderTest()
    _ = try await test.store.put(try folder.file("a", bytes: 3 * mebi + 5), at: try key("a"))
    let content = try folder.content("a")
    let reader = try await test.store.open(try key("a"))
    #expect(reader.size == Int64(content.count))
    #expect(try await reader.readAll(limit: 4 * mebi) == content)
    let across = try await reader.read(from: Int64(mebi) - 3, count: 6)
    #expect(across == Array(content[(mebi - 3)..<(mebi + 3)]))
    #expect(try await reader.read(from: 3 * Int64(mebi), count: 100).count == 5)
    #expect(try await reader.read(from: 99 * Int64(mebi), count: 1).isEmpty)
    #expect(try await reader.read(from: -1, count: 1).isEmpty)
    let gets = test.model.requests.filter { $0.method == "GET" }
    #expect(gets.allSatisfy { $0.maximumAnswer <= mebi })
    let missing = await #expect(throws: ObjectStoreError.self) { try await test.store.open(try key("b")) }
    #expect(missing?.kind == .missing)
  }

  @Test func keysAreListedPageByPageWithoutThoseOfOthers() async throws {
    let test = try StoreUnderTest()
    for name in ["d/3", "d/1", "d/2/x", "d/4", "dd/5"] {
      _ = try await test.store.put(Array(name.utf8), at: try key(name))
    }
    test.model.change { state in
      state.objects["pre/fix/d/a%20b"] = ModelStore.Object(bytes: [], headers: [:])
      state.objects["pre/fix/d/%FF"] = ModelStore.Object(bytes: [], headers: [:])
    }
    #expect(try await test.store.keys(below: try key("d")).map(\.text) == ["d/1", "d/2/x", "d/3", "d/4"])
    #expect(try await test.store.keys(below: try key("e")).isEmpty)
  }

  @Test func deletingCanBeRepeatedAndEndsAnUpload() async throws {
    let test = try StoreUnderTest()
    let key = try key("b")
    _ = try await test.store.put(Array("one".utf8), at: key)
    try await test.store.delete(key)
    try await test.store.delete(key)
    #expect(test.model.objects.isEmpty)
    let file = try folder.file("b", bytes: 40 * mebi)
    test.model.change { state in
      state.intercept = { request, _ in
        if request.url.contains("partNumber=2") { throw CancellationError() }
        return nil
      }
    }
    await #expect(throws: CancellationError.self) { try await test.store.put(file, at: key) }
    test.model.change { $0.intercept = nil }
    try await test.store.delete(key)
    #expect(test.model.state.withLock { $0.uploads.isEmpty })
    #expect(await test.ledger.uploadID(of: key) == nil)
  }

  @Test func aLinkIsSignedForAnObjectAndATime() async throws {
    let test = try StoreUnderTest()
    let link = try #require(try await test.store.link(to: try key("a"), validFor: .seconds(300)))
    #expect(link.hasPrefix("http://127.0.0.1:9000/bucket/pre/fix/a?X-Amz-Algorithm=AWS4-HMAC-SHA256&"))
    #expect(link.contains("&X-Amz-Expires=300&X-Amz-SignedHeaders=host&X-Amz-Signature="))
    #expect(test.model.requests.isEmpty)
  }

  @Test func theBucketIsAPartOfTheHostOrOfThePath() async throws {
    func link(_ url: String, _ configure: (inout S3Configuration) -> Void) async throws -> String {
      let test = try StoreUnderTest(url: url) {
        $0.endpoint = nil
        configure(&$0)
      }
      let link = try await test.store.link(to: try key("a"), validFor: .seconds(1)) ?? ""
      let origin = try #require(test.store.linkOrigin)
      #expect(link.hasPrefix("\(origin)/"))
      return String(link.prefix { $0 != "?" })
    }
    #expect(try await link("s3://bucket") { _ in } == "https://bucket.s3.eu-central-1.amazonaws.com/a")
    #expect(
      try await link("s3://bucket/p") { $0.pathStyle = true } == "https://s3.eu-central-1.amazonaws.com/bucket/p/a")
    #expect(try await link("s3://buck.et") { _ in } == "https://s3.eu-central-1.amazonaws.com/buck.et/a")
    #expect(
      try await link("s3://bucket") { $0.region = "cn-north-1" } == "https://bucket.s3.cn-north-1.amazonaws.com.cn/a")
    #expect(
      try await link("s3://bucket") {
        $0.endpoint = S3Endpoint("https://store.example:8443")
        $0.pathStyle = false
      } == "https://bucket.store.example:8443/a")
    #expect(
      try await link("s3://bucket") {
        $0.endpoint = S3Endpoint("https://[::1]:1")
        $0.pathStyle = false
      } == "https://[::1]:1/bucket/a")
  }
}
