import Foundation
import JobProtocol
import Logging
import PrometheusText
import SQLStore
import Synchronization
import Testing
import Webhooks

@testable import Service

@Suite(.timeLimit(.minutes(2))) struct WebhookDispatcherTests {
  private static let failed = WebhookOutcome.failed(.init(.status, status: 500, "The receiver answered with 500."))

  @Test func `a message has the event, its job and its attempt`() async throws {
    let outbox = try await OutboxFixture()
    let job = try await outbox.job("https://a.example/x")
    try await outbox.append(.recordingFile, of: job, #"{"attempt": 2, "name": "a.webm", "bytes": 9}"#)
    await outbox.dispatcher().sendDue()
    let sent = try #require(outbox.receiver.all.first)
    #expect(sent.url == "https://a.example/x")
    #expect(sent.message.id == "e1")
    #expect(
      String(decoding: sent.message.body, as: UTF8.self)
        == #"{"attempt":2,"data":{"attempt":2,"bytes":9,"name":"a.webm"},"job":{"id":"\#(job)","kind":"record","#
        + #""labels":{"meeting":"42"},"room":"100"},"sequence":1,"timestamp":"2026-12-01T09:00:00.000Z","#
        + #""type":"recording.file"}"#)
    #expect(try await outbox.deliveries().map(\.state) == [.delivered])
  }

  @Test func `an event is tried after 1, 5 and 30 s, 2 and 10 min, then each 30 min, and is dead after 24 h`()
    async throws
  {
    let outbox = try await OutboxFixture()
    let job = try await outbox.job("https://a.example/")
    try await outbox.append(.jobStarted, of: job)
    try await outbox.append(.jobFinished, of: job)
    outbox.receiver.answer { _ in Self.failed }
    let dispatcher = outbox.dispatcher()
    await dispatcher.sendDue()
    while let next = try await outbox.deliveries(.pending).map(\.nextAt).min() {
      // Nothing is sent before its time.
      let count = outbox.receiver.all.count
      outbox.clock.advance(.milliseconds(next - outbox.clock.now - 1))
      await dispatcher.sendDue()
      #expect(outbox.receiver.all.count == count)
      outbox.clock.advance(.milliseconds(1))
      await dispatcher.sendDue()
    }
    let first = outbox.receiver.all.filter { $0.message.id == "e1" }.map { $0.time / 1_000 }
    #expect(Array(first.prefix(8)) == [0, 1, 6, 36, 156, 756, 2_556, 4_356])
    #expect(zip(first.dropFirst(5), first.dropFirst(6)).allSatisfy { $1 - $0 == 1_800 })
    #expect(first.last.map { (84_600...86_400).contains($0) } == true)
    let second = outbox.receiver.all.filter { $0.message.id == "e2" }
    #expect(second.count >= 1 && second.allSatisfy { $0.time / 1_000 >= first.last ?? .max })
    #expect(Set(outbox.receiver.all.map(\.message)).count == 2)
    let dead = try await outbox.deliveries(.dead)
    #expect(dead.map(\.sequence) == [2, 1])
    #expect(dead.last?.tries == Int64(first.count))
    let text = outbox.metrics.registry.text()
    #expect(text.contains("chatbot_webhooks_ended_total{result=\"dead\"} 2\n"))
    #expect(text.contains("chatbot_webhook_tries_total{result=\"status\"} \(outbox.receiver.all.count)\n"))
  }

  @Test func `events of a job come in order although half of the tries fail`() async throws {
    let outbox = try await OutboxFixture()
    var jobs: [JobID] = []
    for _ in 0..<5 { jobs.append(try await outbox.job("https://a.example/", "https://b.example/")) }
    for _ in 0..<10 { for job in jobs { try await outbox.append(.participantJoined, of: job) } }
    outbox.receiver.answer { [receiver = outbox.receiver] _ in
      receiver.all.count % 2 == 0 ? .delivered(status: 200) : Self.failed
    }
    let dispatchers = [outbox.dispatcher(), outbox.dispatcher(), outbox.dispatcher()]
    while try await outbox.store.outbox().pending > 0 {
      await withTaskGroup(of: Void.self) { group in
        for dispatcher in dispatchers { group.addTask { await dispatcher.sendDue() } }
      }
      outbox.clock.advance(.seconds(2))
    }
    #expect(try await outbox.deliveries(.delivered).count == 100)
    for url in ["https://a.example/", "https://b.example/"] {
      for job in jobs {
        let own = outbox.receiver.all.filter {
          $0.url == url && String(decoding: $0.message.body, as: UTF8.self).contains(job.text)
        }
        let ids = own.compactMap { Int($0.message.id.dropFirst()) }
        #expect(ids == ids.sorted(), "\(ids)")
        #expect(Set(ids).count == 10)
      }
    }
  }

  @Test func `a receiver that answers with 410 gets no more of that job`() async throws {
    let outbox = try await OutboxFixture()
    let job = try await outbox.job("https://a.example/", "https://b.example/")
    for _ in 0..<3 { try await outbox.append(.participantJoined, of: job) }
    outbox.receiver.answer { $0.url == "https://a.example/" ? .gone : .delivered(status: 200) }
    await outbox.dispatcher().sendDue()
    try await outbox.append(.jobFinished, of: job)
    await outbox.dispatcher().sendDue()
    #expect(outbox.receiver.all.count { $0.url == "https://a.example/" } == 1)
    #expect(outbox.receiver.all.count { $0.url == "https://b.example/" } == 4)
    #expect(try await outbox.deliveries(.disabled).count == 3)
    let text = outbox.metrics.registry.text()
    #expect(text.contains("chatbot_webhooks_ended_total{result=\"disabled\"} 3\n"))
  }

  @Test func `what a service was sending when it was killed is sent by the next one`() async throws {
    let outbox = try await OutboxFixture()
    let job = try await outbox.job("https://a.example/")
    try await outbox.append(.jobStarted, of: job)
    // Claimed by a service that is gone.
    #expect(try await outbox.store.claimDeliveries(limit: 9, for: 30_000).count == 1)
    await outbox.dispatcher().sendDue()
    #expect(outbox.receiver.all.isEmpty)
    outbox.clock.advance(.seconds(30))
    await outbox.dispatcher().sendDue()
    #expect(outbox.receiver.all.count == 1)
  }

  @Test func `a service that ends sends what is due, and gives back what takes longer`() async throws {
    final class Hanging: WebhookSending {
      func send(_ message: WebhookMessage, to url: WebhookURL, secrets: WebhookSecretList) async -> WebhookOutcome {
        guard url.host == "b.example" else { return .delivered(status: 200) }
        do { try await Task.sleep(for: .seconds(60)) } catch { return .failed(.init(.timeout, "It hangs.")) }
        return .delivered(status: 200)
      }
    }
    let outbox = try await OutboxFixture()
    let job = try await outbox.job("https://a.example/", "https://b.example/")
    try await outbox.append(.jobFinished, of: job)
    let start = ContinuousClock.now
    await outbox.dispatcher(Hanging()).end(within: .milliseconds(200))
    #expect(ContinuousClock.now - start < .seconds(10))
    let left = try await outbox.deliveries()
    #expect(left.map(\.state) == [.delivered, .pending])
    #expect(left.last?.tries == 0 && left.last?.claim == nil)
    await outbox.dispatcher().sendDue()
    #expect(try await outbox.deliveries(.delivered).count == 2)
  }

  @Test func `a receiver that hangs does not keep others from theirs`() async throws {
    final class Counting: WebhookSending {
      let state = Mutex((now: 0, most: 0))
      func send(_ message: WebhookMessage, to url: WebhookURL, secrets: WebhookSecretList) async -> WebhookOutcome {
        guard url.host == "slow.example" else { return .delivered(status: 200) }
        state.withLock {
          $0.now += 1
          $0.most = max($0.most, $0.now)
        }
        try? await Task.sleep(for: .milliseconds(20))
        state.withLock { $0.now -= 1 }
        return .delivered(status: 200)
      }
    }
    let outbox = try await OutboxFixture()
    for _ in 0..<20 { try await outbox.append(.jobStarted, of: try await outbox.job("https://slow.example/")) }
    try await outbox.append(.jobStarted, of: try await outbox.job("https://fast.example/"))
    var limits = WebhookDispatcher.Limits()
    (limits.toOneReceiver, limits.ofOneClaim) = (2, 2)
    let counting = Counting()
    await outbox.dispatcher(counting, limits: limits).sendDue()
    #expect(try await outbox.deliveries(.delivered).count == 21)
    // Those of the last claim come on top.
    #expect(counting.state.withLock { $0.most } <= 4)
  }

  @Test func `a secret that cannot be read keeps back its messages until it can`() async throws {
    let outbox = try await OutboxFixture()
    let job = try await outbox.job("https://a.example/")
    try await outbox.append(.jobStarted, of: job)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: outbox.secretFile)
    let dispatcher = outbox.dispatcher()
    await dispatcher.sendDue()
    let waiting = try #require(try await outbox.deliveries(.pending).first)
    #expect(waiting.error == "Others may read \(outbox.secretFile): its mode must be 0600 (chmod 600).")
    #expect(outbox.receiver.all.isEmpty)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: outbox.secretFile)
    outbox.clock.advance(.seconds(1))
    await dispatcher.sendDue()
    #expect(outbox.receiver.all.count == 1)
  }

  @Test func `that a secret cannot be used is in the log at once and once, and that it can be used again`() async throws
  {
    let outbox = try await OutboxFixture()
    for _ in 0..<3 { try await outbox.append(.jobStarted, of: try await outbox.job("https://a.example/")) }
    func set(mode: Int) throws {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: outbox.secretFile)
    }
    try set(mode: 0o644)
    let log = RecordedLog()
    let dispatcher = outbox.dispatcher(logger: log.logger)
    for _ in 0..<3 {
      await dispatcher.sendDue()
      outbox.clock.advance(.seconds(30))
    }
    let sentence = "Others may read \(outbox.secretFile): its mode must be 0600 (chmod 600)."
    #expect(log.all.map(\.message) == ["Webhooks with the secret app are not sent: \(sentence)"])
    #expect(log.all.map(\.level) == [.error])
    try set(mode: 0o600)
    await dispatcher.sendDue()
    #expect(log.all.dropFirst().map(\.message) == ["The secret of webhooks app can be used again"])
    #expect(outbox.receiver.all.count == 3)
  }

  @Test func `a secret is read again when its file changes, also with a second one`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "secrets-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (one, two) = (try #require(WebhookSecret.randomText()), try #require(WebhookSecret.randomText()))
    try PrivateFile.create("\(folder)/a", one)
    let files = WebhookSecretFiles(["a": .init(file: "\(folder)/a"), "b": .init(file: "\(folder)/b")])
    #expect(files.problems == ["\(folder)/b cannot be read."])
    #expect(try files.secrets(named: "a").secrets == [try #require(WebhookSecret(one))])
    try PrivateFile.append("\(folder)/a", line: two)
    #expect(try files.secrets(named: "a").secrets.count == 2)
    try PrivateFile.append("\(folder)/a", line: "whsec_x")
    #expect(throws: WebhookSecretFiles.Unusable.self) { try files.secrets(named: "a") }
    #expect(throws: WebhookSecretFiles.Unusable.self) { try files.secrets(named: "c") }
  }
}
