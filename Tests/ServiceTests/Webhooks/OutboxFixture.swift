import Foundation
import JobProtocol
import Logging
import SQLStore
import Synchronization
import Webhooks

@testable import Service

/// An outbox on a clock that the test moves, with a receiver that does what the test says.
final class OutboxFixture: Sendable {
  /// A try, as a receiver sees it.
  struct Try: Sendable, Hashable {
    var message: WebhookMessage
    var url: String
    /// Milliseconds since the beginning of the test.
    var time: Int64
  }

  /// Does what the test says, and notes each try.
  final class Receiver: WebhookSending {
    private let tries = Mutex<[Try]>([])
    private let answer: Mutex<@Sendable (Try) -> WebhookOutcome>
    private let clock: Clock

    fileprivate init(_ clock: Clock) {
      self.clock = clock
      answer = Mutex({ @Sendable _ in .delivered(status: 204) })
    }

    var all: [Try] { tries.withLock { $0 } }
    func answer(_ answer: @escaping @Sendable (Try) -> WebhookOutcome) { self.answer.withLock { $0 = answer } }

    func send(_ message: WebhookMessage, to url: WebhookURL, secrets: WebhookSecretList) async -> WebhookOutcome {
      let one = Try(message: message, url: url.text, time: clock.now - Clock.start)
      tries.withLock { $0.append(one) }
      return answer.withLock { $0 }(one)
    }
  }

  final class Clock: Sendable {
    fileprivate static let start: Int64 = 1_796_115_600_000
    private let time = Mutex<Int64>(start)
    var now: Int64 { time.withLock { $0 } }
    func advance(_ time: Duration) { self.time.withLock { $0 += Int64(time / .milliseconds(1)) } }
  }

  let folder: String
  let clock = Clock()
  let store: JobStore
  let receiver: Receiver
  let metrics = ServiceMetrics()
  let secretFile: String
  let secret: String

  init() async throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "outbox-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let connection = try await SQLiteConnection.open("\(folder)/service.db", clock: { [clock] in clock.now })
    try await SQLSchema.migrate(connection)
    store = JobStore(connection)
    receiver = Receiver(clock)
    secretFile = "\(folder)/app"
    secret = WebhookSecret.randomText() ?? ""
    try PrivateFile.create(secretFile, "\(secret)\n")
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// A service that sends from the outbox; there may be several.
  ///
  /// - Parameter sender: nil: to ``receiver``.
  func dispatcher(
    _ sender: (any WebhookSending)? = nil, allowsPrivate: Bool = true,
    limits: WebhookDispatcher.Limits = WebhookDispatcher.Limits(),
    logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  ) -> WebhookDispatcher {
    WebhookDispatcher(
      store, sender: sender ?? receiver, secrets: WebhookSecretFiles(["app": .init(file: secretFile)]),
      allowsPrivate: allowsPrivate, metrics: metrics, limits: limits, logger: logger)
  }

  /// Stores a job with receivers at these URLs.
  func job(_ urls: String..., events: [EventPattern] = [.all], secret: String = "app") async throws -> JobID {
    let id = JobID.random()
    _ = try await store.submit(
      NewJob(
        id: id, project: "p", kind: "record", state: .queued, paused: "{}", request: "{}", room: "100", server: "main",
        labels: ["meeting": "42"],
        webhooks: urls.compactMap { WebhookRequest(url: $0, events: events, secret: secret).stored }))
    return id
  }

  func append(_ type: JobEventType, of job: JobID, _ data: String = "{}") async throws {
    try await store.connection.transaction { _ = try $0.append(type, of: job, data: data) }
  }

  func deliveries(_ state: DeliveryState? = nil) async throws -> [DeliveryRecord] {
    try await store.deliveries(project: "p", DeliveryFilter(state: state), limit: 1_000)
  }
}
