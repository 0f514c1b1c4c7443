import Foundation
import Logging
import ObjectStore
import S3
import Testing

/// Storing in the stores of other programs: moto, which checks signatures and rights, and OpenStack Swift, which checks signatures and
/// the digests of bodies.
@Suite(.serialized) struct RealStoreTests {
  private let folder: TemporaryFolder
  private let mebi = 1 << 20

  init() throws { folder = try TemporaryFolder() }

  private func key(_ text: String) throws -> ObjectKey { try #require(ObjectKey(text)) }

  private struct Client {
    let store: S3ObjectStore
    let transport: HTTPClientTransport
  }

  private func client(
    _ endpoint: String, environment: [String: String], ledger: MemoryUploadLedger = MemoryUploadLedger(),
    configure: (inout S3Configuration) -> Void = { _ in }
  ) throws -> Client {
    var configuration = try S3Configuration(url: "s3://\(RealStore.bucket)/pre")
    configuration.endpoint = S3Endpoint(endpoint)
    configure(&configuration)
    let transport = HTTPClientTransport()
    let timing = S3Timing(
      now: S3Timing.real.now, sleep: { try await Task.sleep(for: min($0, .milliseconds(100))) },
      random: S3Timing.real.random)
    let store = try S3ObjectStore(
      configuration, environment: environment, transport: transport, ledger: ledger, timing: timing,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    return Client(store: store, transport: transport)
  }

  private func credentials(_ address: RealStore.Address) -> [String: String] {
    ["AWS_ACCESS_KEY_ID": address.key, "AWS_SECRET_ACCESS_KEY": address.secret]
  }

  /// Reads a link as a browser does.
  private func status(of link: String) throws -> (Int, Data) {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["curl", "--silent", "--max-time", "20", "--write-out", "\n%{http_code}", link]
    process.standardOutput = output
    try process.run()
    var data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let end = try #require(data.lastIndex(of: UInt8(ascii: "\n")))
    let status = try #require(Int(String(decoding: data[(end + 1)...], as: UTF8.self)))
    data = data[..<end]
    return (status, data)
  }

  private func storesReadsListsAndDeletes(_ kind: PythonServer.Interpreter) async throws {
    let real = try await RealStore(kind)
    let client = try client(real.address.endpoint, environment: credentials(real.address))
    let store = client.store
    try await store.probe()
    #expect(store.problem == nil)
    for (name, bytes) in [("e", 0), ("d/small", 70_000), ("d/large", 35 * mebi)] {
      let object = try await store.put(try folder.file("file", bytes: bytes), at: try key(name))
      let content = try folder.content("file")
      #expect(object == StoredObject(bytes: Int64(bytes), sha256: ObjectDigest.hex(of: content)))
      // Again, it is there.
      #expect(try await store.put(try folder.file("file", bytes: bytes), at: try key(name)) == object)
      #expect(try await store.open(try key(name)).readAll(limit: 40 * mebi) == content)
      let other = try folder.file("other", bytes: bytes + 1)
      let error = await #expect(throws: ObjectStoreError.self) { try await store.put(other, at: try key(name)) }
      #expect(error?.kind == .exists)
    }
    #expect(try await store.keys(below: try key("d")).map(\.text) == ["d/large", "d/small"])
    // moto answers every link with 500 while it checks signatures, those of botocore too.
    if kind == .swift {
      let link = try #require(try await store.link(to: try key("d/small"), validFor: .seconds(60)))
      _ = try folder.file("file", bytes: 70_000)
      let (status, data) = try status(of: link)
      let small = try folder.content("file")
      #expect(status == 200 && Array(data) == small)
      #expect(try self.status(of: link.replacingOccurrences(of: "Expires=60", with: "Expires=90")).0 == 403)
    }
    for name in ["d/large", "d/small", "d/small"] { try await store.delete(try key(name)) }
    #expect(try await store.keys(below: try key("d")).isEmpty)
    let missing = await #expect(throws: ObjectStoreError.self) { try await store.open(try key("d/small")) }
    #expect(missing?.kind == .missing)

    // A wrong secret is a problem at once.
    var wrong = credentials(real.address)
    wrong["AWS_SECRET_ACCESS_KEY"] = "wrong"
    let stranger = try self.client(real.address.endpoint, environment: wrong)
    let refused = await #expect(throws: ObjectStoreError.self) { try await stranger.store.put([1], at: try key("x")) }
    #expect(refused?.kind == .refused && stranger.store.problem != nil)
    await client.transport.shutdown()
    await stranger.transport.shutdown()
  }

  @Test(.enabled(if: PythonServer.Interpreter.moto.path != nil, PythonServer.isMissing))
  func motoAcceptsWhatIsSigned() async throws { try await storesReadsListsAndDeletes(.moto) }

  @Test(.enabled(if: PythonServer.Interpreter.swift.path != nil, PythonServer.isMissing))
  func openStackSwiftAcceptsWhatIsSigned() async throws { try await storesReadsListsAndDeletes(.swift) }

  private func storesBehindAProxy(_ kind: PythonServer.Interpreter, seed: Int) async throws {
    let real = try await RealStore(kind)
    let proxy = try await DisturbingProxy(to: real.address.endpoint, seed: seed, python: kind)
    let client = try client(proxy.endpoint, environment: credentials(real.address))
    try await client.store.probe()
    try await proxy.disturb(0.5, "503 delay cutRequest cutAnswer refuse error200")
    let (store, folder) = (client.store, folder)
    let sizes = [0, 1, 1_000, 300_000, 5_000_000, 17_000_000, 40_000_000]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, size) in sizes.enumerated() {
        let (file, key) = (try folder.file("\(number)", bytes: size, seed: UInt8(number)), try key("d/\(number)"))
        group.addTask { _ = try await store.put(file, at: key) }
      }
      try await group.waitForAll()
    }
    try await proxy.disturb(0)
    #expect(try await store.keys(below: try key("d")).count == sizes.count)
    for number in sizes.indices {
      let found = try await store.open(try key("d/\(number)")).readAll(limit: 64 * mebi)
      #expect(found == (try folder.content("\(number)")), "\(number)")
    }
    #expect(store.problem == nil)
    await client.transport.shutdown()
  }

  @Test(.enabled(if: PythonServer.Interpreter.moto.path != nil, PythonServer.isMissing))
  func allIsStoredInMotoWhateverTheProxyDoes() async throws { try await storesBehindAProxy(.moto, seed: 1) }

  @Test(.enabled(if: PythonServer.Interpreter.swift.path != nil, PythonServer.isMissing))
  func allIsStoredInSwiftWhateverTheProxyDoes() async throws { try await storesBehindAProxy(.swift, seed: 2) }

  @Test(.enabled(if: PythonServer.Interpreter.moto.path != nil, PythonServer.isMissing))
  func rightsOfMotoAreObeyed() async throws {
    let real = try await RealStore(.moto)
    let denied = try client(
      real.address.endpoint,
      environment: [
        "AWS_ACCESS_KEY_ID": try #require(real.address.otherKey),
        "AWS_SECRET_ACCESS_KEY": try #require(real.address.otherSecret),
      ])
    let error = await #expect(throws: ObjectStoreError.self) { try await denied.store.probe() }
    #expect(error?.kind == .refused && denied.store.problem?.contains("403") == true)
    let missing = try client(real.address.endpoint, environment: credentials(real.address)) { $0.bucket = "nobody" }
    await #expect(throws: ObjectStoreError.self) { try await missing.store.probe() }
    #expect(missing.store.problem?.contains("nobody") == true)
    for client in [denied, missing] { await client.transport.shutdown() }
  }

  @Test(.enabled(if: PythonServer.Interpreter.moto.path != nil, PythonServer.isMissing))
  func aWebIdentityIsExchangedForCredentials() async throws {
    let real = try await RealStore(.moto, isChecked: false)
    let role = try client(
      real.address.endpoint,
      environment: [
        "AWS_WEB_IDENTITY_TOKEN_FILE": try folder.write("token", "a.b.c\n"),
        "AWS_ROLE_ARN": try #require(real.address.role), "AWS_ENDPOINT_URL_STS": real.address.endpoint,
      ])
    try await role.store.probe()
    #expect(role.store.problem == nil)
    await role.transport.shutdown()
  }

  @Test(.enabled(if: PythonServer.Interpreter.moto.path != nil, PythonServer.isMissing))
  func uploadsKeepToTheirRate() async throws {
    let real = try await RealStore(.moto)
    let client = try client(real.address.endpoint, environment: credentials(real.address)) {
      $0.uploadRate = 2_000_000
    }
    let (store, folder) = (client.store, folder)
    let start = ContinuousClock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<3 {
        let (file, key) = (try folder.file("\(number)", bytes: 2_000_000), try key("\(number)"))
        group.addTask { _ = try await store.put(file, at: key) }
      }
      try await group.waitForAll()
    }
    #expect(ContinuousClock.now - start > .seconds(2.5))
    await client.transport.shutdown()
  }
}
