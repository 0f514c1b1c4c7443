internal import Glibc
package import Logging
internal import Media
package import ObjectStore

/// Objects in a bucket of S3, or of a store that speaks its protocol.
///
/// Uploads are tried again for as long as the store is away and the task is not cancelled. Everything else gives up after 20 s. What the
/// store refuses is not tried again: see ``problem``.
///
/// An upload keeps pieces of 256 KiB of a file in memory: one for each request, of which a file has at most three.
package final class S3ObjectStore: ObjectStore {
  package let configuration: S3Configuration
  private let caller: S3Caller
  private let uploader: S3Uploader
  private let ledger: any ObjectUploadLedger
  private let timing: S3Timing

  /// - Parameters:
  ///   - environment: the variables of the process, with credentials, a region or an endpoint.
  ///   - transport: an ``HTTPClientTransport``, which the caller shuts down.
  ///   - ledger: where uploads in parts are noted.
  ///   - observe: called for each request and each file that is stored; it must not wait.
  package init(
    _ configuration: S3Configuration, environment: [String: String], transport: any S3Transport,
    ledger: any ObjectUploadLedger = MemoryUploadLedger(), timing: S3Timing = .real, logger: Logger,
    observe: @escaping @Sendable (S3Observation) -> Void = { _ in }
  ) throws(S3Configuration.Problem) {
    self.configuration = configuration
    self.ledger = ledger
    self.timing = timing
    caller = try S3Caller(
      configuration, environment: environment, hasFile: { access($0, R_OK) == 0 }, transport: transport, timing: timing,
      logger: logger, observe: observe)
    uploader = S3Uploader(
      caller: caller, ledger: ledger, conditions: ConditionalWrites(), encryption: configuration.serverSideEncryption,
      pacer: configuration.uploadRate.map { UploadPacer(bytesPerSecond: $0) }, logger: logger)
  }

  package var problem: String? { caller.problem }

  /// The prefix is a part of the keys in the bucket.
  package var maximumKeyBytes: Int {
    ObjectKey.maximumBytes - (configuration.prefix.map { $0.text.utf8.count + 1 } ?? 0)
  }

  /// The key in the bucket.
  ///
  /// - Throws: an `ObjectStoreError` of the kind `keyTooLong`; the store is not asked.
  private func key(_ key: ObjectKey) throws(ObjectStoreError) -> String {
    guard key.text.utf8.count <= maximumKeyBytes else {
      throw ObjectStoreError(
        .keyTooLong,
        "The key \(key) has more than the \(maximumKeyBytes) bytes that are left behind the prefix of the store.")
    }
    return configuration.prefix.map { "\($0)/\(key)" } ?? key.text
  }

  private func translated<Result>(_ key: ObjectKey?, _ body: () async throws -> Result) async throws -> Result {
    do {
      return try await body()
    } catch let failure as S3Failure {
      throw ObjectStoreError(failure, key: key)
    }
  }

  // MARK: Writing

  package func put(_ file: SourceFile, at key: ObjectKey) async throws -> StoredObject {
    let start = MonotonicInstant.now
    let name = try self.key(key)
    let plan = try await BlockingWork.run("digest", niceness: 10, within: .seconds(30) + .seconds(file.size >> 20)) {
      try UploadPlan(file)
    }
    try await translated(key) {
      if plan.parts.isEmpty {
        try await uploader.put(.file(file, 0..<plan.object.bytes), plan.object, at: name)
      } else {
        try await uploader.putInParts(file, plan, at: name, noteKey: key)
      }
    }
    caller.note(.uploaded(bytes: plan.object.bytes, duration: .now - start))
    return plan.object
  }

  package func put(_ bytes: [UInt8], at key: ObjectKey) async throws -> StoredObject {
    let start = MonotonicInstant.now
    let name = try self.key(key)
    let object = StoredObject(bytes: Int64(bytes.count), sha256: ObjectDigest.hex(of: bytes))
    try await translated(key) { try await uploader.put(.bytes(bytes), object, at: name) }
    caller.note(.uploaded(bytes: object.bytes, duration: .now - start))
    return object
  }

  // MARK: Reading

  package func open(_ key: ObjectKey) async throws -> any ObjectReader {
    let name = try self.key(key)
    return try await translated(key) {
      guard let found = try await uploader.head(name, patience: S3ObjectReader.patience) else {
        throw ObjectStoreError(.missing, "There is no object \(key).")
      }
      return S3ObjectReader(name, size: found.bytes, caller: caller)
    }
  }

  /// The number of keys that are listed.
  private static let maximumKeys = 100_000

  /// - Throws: an `ObjectStoreError`, also if there are more than 100,000.
  package func keys(below prefix: ObjectKey) async throws -> [ObjectKey] {
    let below = try self.key(prefix) + "/"
    let own = configuration.prefix.map { $0.text.utf8.count + 1 } ?? 0
    return try await translated(prefix) {
      var keys: [ObjectKey] = []
      var token: String?
      repeat {
        let response = try await caller.perform(.list(prefix: below, after: token), patience: S3ObjectReader.patience)
        guard let page = KeysPage(parsing: response.body), page.next == nil || page.next != token else {
          throw S3Failure(.failed, "The store gave no list of keys.")
        }
        for found in page.keys where found.utf8.starts(with: below.utf8) {
          // Keys that this program does not write belong to others.
          guard let text = found.ascii, let key = ObjectKey(String(text.dropFirst(own))) else { continue }
          keys.append(key)
        }
        guard keys.count <= Self.maximumKeys else {
          throw S3Failure(.failed, "There are more than \(Self.maximumKeys) objects below \(below).")
        }
        token = page.next
      } while token != nil
      return keys.sorted()
    }
  }

  /// The bucket has no limit that can be asked for.
  package var freeBytes: Int64? { get async throws { nil } }

  package func link(to key: ObjectKey, validFor lifetime: Duration) async throws -> String? {
    let seconds = Int(clamping: lifetime.components.seconds)
    return try await translated(key) {
      try await caller.link(.get(self.key(key), 0..<1), seconds: min(max(1, seconds), 604_800))
    }
  }

  package var linkOrigin: String? { caller.addressing.endpoint.description }

  // MARK: Deleting

  package func delete(_ key: ObjectKey) async throws {
    let name = try self.key(key)
    try await translated(key) {
      try await uploader.forget(key, name, plan: nil)
      _ = try await caller.perform(.delete(name), patience: S3ObjectReader.patience)
    }
  }

  // MARK: Probing

  /// Stores, lists, reads and deletes a small object, and finds out whether the store writes conditionally. Removes such objects that
  /// a test has left behind which was ended. To be called at the start, and now and then while there is a ``problem``.
  ///
  /// - Throws: an `ObjectStoreError`, of the kind `refused` if an operator must change something, which ``problem`` also says.
  package func probe() async throws {
    let text = "A test of the service chatbot, which deletes this object.\n"
    let bytes = Array(text.utf8)
    let now = timing.now()
    guard let folder = ObjectKey(S3Probe.folder), let key = folder.appending(S3Probe.name(at: now)) else { return }
    let probe = S3Probe(uploader: uploader, caller: caller)
    try await translated(nil) {
      try await probe.run(try self.key(key), bytes)
      try await probe.removeLeftovers(below: try self.key(folder) + "/", at: now)
    }
  }
}

/// What a store has done, for metrics.
package enum S3Observation: Sendable, Hashable {
  /// A request. The status is 0 if there was no answer; the operation is a word such as `PutObject`.
  case request(operation: String, status: Int, duration: Duration)
  /// An object was stored, after so many seconds with all tries.
  case uploaded(bytes: Int64, duration: Duration)
}
