import Foundation
import Logging
import ObjectStore
import S3
import Synchronization

/// A store with a model behind it, whose time passes only in pauses.
struct StoreUnderTest {
  let model: ModelStore
  let ledger: MemoryUploadLedger
  let store: S3ObjectStore
  let clock: SteppedClock

  init(
    _ model: ModelStore = ModelStore(), url: String = "s3://bucket/pre/fix",
    ledger: MemoryUploadLedger = MemoryUploadLedger(),
    environment: [String: String] = ["AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret"],
    clock: SteppedClock = SteppedClock(), configure: (inout S3Configuration) -> Void = { _ in }
  ) throws {
    self.model = model
    self.ledger = ledger
    self.clock = clock
    var configuration = try S3Configuration(url: url)
    configuration.endpoint = S3Endpoint("http://127.0.0.1:9000")
    configuration.region = "eu-central-1"
    configure(&configuration)
    var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    logger.logLevel = .critical
    store = try S3ObjectStore(
      configuration, environment: environment, transport: model, ledger: ledger, timing: clock.timing, logger: logger)
  }
}

/// A clock that moves on by what is slept.
final class SteppedClock: Sendable {
  private let milliseconds = Mutex<Int64>(1_780_000_000_000)
  /// All pauses.
  let pauses = Mutex<[Duration]>([])

  func advance(_ duration: Duration) {
    milliseconds.withLock {
      $0 += duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000
    }
  }

  var now: UTCTime { UTCTime(milliseconds: milliseconds.withLock { $0 }) }

  var timing: S3Timing {
    S3Timing(
      now: { self.now },
      sleep: { duration in
        try Task.checkCancellation()
        self.pauses.withLock { $0.append(duration) }
        self.advance(duration)
        await Task.yield()
      }, random: { 0.5 })
  }
}

/// A folder that is removed at the end.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("s3-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Writes a file of bytes that repeat after a prime number.
  func file(_ name: String, bytes: Int, seed: UInt8 = 1) throws -> SourceFile {
    let pattern = (0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 251) ^ seed }
    var content = Data(capacity: bytes)
    while content.count < bytes { content.append(contentsOf: pattern.prefix(bytes - content.count)) }
    try content.write(to: URL(fileURLWithPath: "\(path)/\(name)"))
    return try SourceFile(path: "\(path)/\(name)")
  }

  func write(_ name: String, _ text: String) throws -> String {
    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
    return "\(path)/\(name)"
  }

  func content(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)")))
  }
}
