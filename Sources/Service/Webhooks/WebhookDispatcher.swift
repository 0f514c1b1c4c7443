import JSON
package import Logging
import Media
package import SQLStore
package import Webhooks

/// Sends what is in the outbox. Several services may do so with one database: a delivery that one has claimed is left alone by the others.
package actor WebhookDispatcher {
  package struct Limits: Sendable {
    /// How many messages are sent at once, and how many of them to one receiver, in all and of one claim.
    package var atOnce = 64
    package var toOneReceiver = 8
    package var ofOneClaim = 16
    /// How long a delivery is claimed: more than a try takes.
    package var claim = Duration.seconds(30)
    /// How often the outbox is looked at while nothing happens, and how long after a look at least: each node hears of each delivery.
    package var interval = Duration.seconds(1)
    package var pause = Duration.milliseconds(250)

    package init() {}
  }

  private let store: JobStore
  private let sender: any WebhookSending
  private let secrets: WebhookSecretFiles
  private let metrics: ServiceMetrics
  private let logger: Logger
  private let limits: Limits
  private let allowsPrivate: Bool

  private struct Running {
    var origin: String
    var task: Task<Void, Never>
  }

  private var running: [DeliveryID: Running] = [:]
  private var isLooking = false
  private var isToLookAgain = false
  private var isEnding = false
  private var hasEnded = false
  private var hasFailed = false
  /// What is wrong with secrets, by their names, as it was said in the log.
  private var secretProblems: [String: String] = [:]

  package init(
    _ store: JobStore, sender: any WebhookSending, secrets: WebhookSecretFiles, allowsPrivate: Bool,
    metrics: ServiceMetrics, limits: Limits = Limits(), logger: Logger
  ) {
    self.store = store
    self.sender = sender
    self.secrets = secrets
    self.allowsPrivate = allowsPrivate
    self.metrics = metrics
    self.limits = limits
    self.logger = logger
  }

  /// Sends until the task is cancelled.
  package func run() async {
    let (news, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    // That PostgreSQL announces deliveries only shortens the wait.
    store.connection.changes { if $0 == .deliveries { continuation.yield() } }
    let interval = store.connection.dialect == .postgreSQL ? limits.interval * 2 : limits.interval
    let timer = Task {
      while !Task.isCancelled {
        continuation.yield()
        try await ServiceTimer.sleep(for: interval)
      }
    }
    defer { timer.cancel() }
    for await _ in news {
      await look()
      do { try await ServiceTimer.sleep(for: limits.pause) } catch { return }
    }
  }

  /// Sends what is due, and waits for it, for as long as something is due. For tests, and for the end of the service.
  package func sendDue() async {
    repeat {
      await look()
      for task in running.values.map(\.task) { await task.value }
    } while !running.isEmpty
  }

  /// Sends what is due, for a time at most, then ends and gives back what is claimed.
  package func end(within time: Duration) async {
    Task {
      await self.sendDue()
      self.hasEnded = true
    }
    await wait(for: time)
    isEnding = true
    for running in running.values { running.task.cancel() }
    // A database that does not answer is not waited for.
    await wait(for: Self.releaseTime)
  }

  private static let releaseTime = Duration.seconds(1)

  private func wait(for time: Duration) async {
    let end = MonotonicInstant.now + time
    while !hasEnded, MonotonicInstant.now < end { try? await ServiceTimer.sleep(for: .milliseconds(10)) }
  }

  /// Claims what is due and begins to send it.
  private func look() async {
    isToLookAgain = true
    guard !isLooking else { return }
    isLooking = true
    defer { isLooking = false }
    while isToLookAgain, !isEnding {
      isToLookAgain = false
      let free = min(limits.ofOneClaim, limits.atOnce - running.count)
      guard free > 0 else { return }
      do {
        let due = try await store.claimDeliveries(
          limit: free, for: Int64(limits.claim / .milliseconds(1)), notTo: busyReceivers)
        hasFailed = false
        for delivery in due { begin(delivery) }
        if due.count == free { isToLookAgain = true }
      } catch {
        // The outbox waits for the database; one line is enough.
        if !hasFailed { logger.error("The outbox cannot be read: \("\(error)".printable(utf8Bytes: 300))") }
        hasFailed = true
        return
      }
    }
  }

  /// The receivers that have enough to do.
  private var busyReceivers: [String] {
    var counts: [String: Int] = [:]
    for running in running.values { counts[running.origin, default: 0] += 1 }
    return counts.filter { $0.value >= limits.toOneReceiver }.keys.sorted()
  }

  private func begin(_ due: DueDelivery) {
    let id = due.delivery.id
    // A claim that has ended may be this service's own; what it became of is written by nobody twice.
    guard running[id] == nil else { return }
    running[id] = Running(origin: due.origin, task: Task { await self.send(due) })
  }

  private func send(_ due: DueDelivery) async {
    var outcome = isEnding ? Self.cancelled : await attempt(due)
    // What failed because the service ends has not failed.
    if Task.isCancelled, case .failed = outcome { outcome = Self.cancelled }
    await write(outcome, of: due.delivery)
    running[due.delivery.id] = nil
    // The next event of the job, or another receiver.
    if !isEnding { await look() }
  }

  private static let cancelled = WebhookOutcome.failed(.init(.cancelled, "The service ended."))

  private func attempt(_ due: DueDelivery) async -> WebhookOutcome {
    do {
      let list = try secretList(due.delivery.secret)
      let url = try WebhookURL(due.delivery.url, allowsPrivate: allowsPrivate)
      return await sender.send(try WebhookMessage(due), to: url, secrets: list)
    } catch {
      return .failed(.init(.unusable, "\(error)".printable(utf8Bytes: 300)))
    }
  }

  /// Reads a secret. That it cannot be used is in the log at once and once, and not only when a message is given up after a day.
  private func secretList(_ name: String) throws(WebhookSecretFiles.Unusable) -> WebhookSecretList {
    do throws(WebhookSecretFiles.Unusable) {
      let list = try secrets.secrets(named: name)
      if secretProblems.removeValue(forKey: name) != nil {
        logger.notice("The secret of webhooks \(name.printable(utf8Bytes: 100)) can be used again")
      }
      return list
    } catch {
      if secretProblems.updateValue(error.description, forKey: name) != error.description {
        logger.error(
          """
          Webhooks with the secret \(name.printable(utf8Bytes: 100)) are not sent: \(error.description.printable(utf8Bytes: 300))
          """)
      }
      throw error
    }
  }

  private func write(_ outcome: WebhookOutcome, of delivery: DeliveryRecord) async {
    let place: Logger.Metadata = [
      "job": .string(delivery.job.text), "delivery": .string(delivery.id.description),
    ]
    do {
      switch outcome {
      case .delivered(let status):
        metrics.tried("delivered")
        if try await store.deliverySucceeded(delivery, status: status) { metrics.ended(.delivered) }
      case .gone:
        metrics.tried("gone")
        let count = try await store.webhookGone(delivery, status: 410)
        guard count > 0 else { return }
        metrics.ended(.disabled, count: count)
        logger.notice("A receiver wants no more events of a job", metadata: place)
      case .failed(let failure) where failure.kind == .cancelled:
        try await store.release(delivery)
      case .failed(let failure):
        metrics.tried(failure.kind.rawValue)
        let state = try await store.deliveryFailed(
          delivery, status: failure.status, error: failure.sentence,
          retryAfter: RetrySchedule.delay(afterTries: delivery.tries + 1))
        guard state == .dead else { return }
        metrics.ended(.dead)
        logger.warning("A webhook was given up: \(failure.sentence)", metadata: place)
      }
    } catch {
      // The claim ends by itself, and the message is sent again.
      logger.error(
        "The result of a webhook cannot be written: \("\(error)".printable(utf8Bytes: 300))", metadata: place)
    }
  }
}

extension WebhookMessage {
  init(_ due: DueDelivery) throws {
    let (delivery, data) = (due.delivery, APIDocument.parsed(due.data))
    try self.init(
      Event(
        id: Cursor.text(event: delivery.id.event), type: delivery.type, timestamp: APITime.text(due.time),
        job: .object([
          "id": .text(delivery.job.text), "kind": .text(due.kind), "room": .text(due.room.isEmpty ? nil : due.room),
          "labels": .object(due.labels.mapValues { .text($0) }),
        ]),
        // A file may be of an attempt before the newest one.
        sequence: delivery.sequence, attempt: data["attempt"]?.integer ?? delivery.attempt, data: data))
  }
}
