import Foundation
import Glibc
import JobProtocol
import SQLStore
import TestSupport
import Testing
import Webhooks

@testable import Service

/// With a receiver in Python that verifies by `standardwebhooks`, over real sockets; only the clock of the database is the test's.
@Suite(
  .timeLimit(.minutes(3)), .enabled(if: WebhookReceiver.isInstalled, Comment(rawValue: WebhookReceiver.missing ?? "")))
struct WebhookReceiverTests {
  private struct Resolver: WebhookResolver {
    var address = "127.0.0.1"

    func addresses(of host: String) async throws(WebhookResolverError) -> [IPAddress] {
      [IPAddress(address)].compactMap { $0 }
    }
  }

  private func sender(_ change: (inout WebhookSender.Settings) -> Void = { _ in }) throws -> WebhookSender {
    var settings = WebhookSender.Settings()
    settings.allowsPrivate = true
    settings.timeout = .seconds(2)
    change(&settings)
    return try WebhookSender(settings, resolver: Resolver(), userAgent: "chatbot/test")
  }

  /// Sends until nothing waits.
  private func sendAll(_ outbox: OutboxFixture, _ dispatcher: WebhookDispatcher) async throws {
    for _ in 0..<400 {
      await dispatcher.sendDue()
      if try await outbox.store.outbox().pending == 0 { return }
      outbox.clock.advance(.seconds(30))
    }
    Issue.record("Something waits for ever.")
  }

  private static func isValid(_ requests: [WebhookReceiver.Request]) -> Bool {
    requests.allSatisfy { $0.isValid == [true] && !$0.isValidWhenChanged }
  }

  @Test(arguments: ["/half", "/hang", "/lost"])
  func `each event reaches a receiver that fails at least once, in order, with valid signatures`(path: String)
    async throws
  {
    let outbox = try await OutboxFixture()
    let receiver = try await WebhookReceiver(secrets: [outbox.secret])
    let url = "http://hooks.example:\(receiver.port)"
    let jobs = [try await outbox.job("\(url)\(path)", "\(url)/ok"), try await outbox.job("\(url)\(path)")]
    for type in JobEventType.allCases {
      for job in jobs { try await outbox.append(type, of: job, #"{"user": "ü𝄞"}"#) }
    }
    try await sendAll(
      outbox, outbox.dispatcher(try sender { $0.timeout = .milliseconds(path == "/hang" ? 2_000 : 10_000) }))
    let requests = receiver.requests
    #expect(Self.isValid(requests))
    for job in jobs {
      // On a machine that stalls, an answer may be lost.
      var seen: Set<String> = []
      let taken = requests.filter { $0.job == job.text && $0.path == path && $0.status == 204 }
        .filter { seen.insert($0.id).inserted }
      #expect(taken.map(\.sequence) == Array(1...JobEventType.allCases.count))
      let all = requests.filter { $0.job == job.text && $0.path == path }.map(\.sequence)
      #expect(all == all.sorted(), "\(all)")
    }
    // The same id and the same body in each try.
    for (_, tries) in Dictionary(grouping: requests, by: \.id) { #expect(Set(tries.map(\.body)).count == 1) }
    #expect(Set(requests.map(\.id)).count == 2 * JobEventType.allCases.count)
    #expect(Set(requests.filter { $0.path == "/ok" }.map(\.id)).count == JobEventType.allCases.count)
    #expect(requests.count { $0.path == path && $0.status != 204 } >= 2)
  }

  @Test func `redirects are not followed, and 410 ends`() async throws {
    let outbox = try await OutboxFixture()
    let receiver = try await WebhookReceiver(secrets: [outbox.secret])
    let url = "http://hooks.example:\(receiver.port)"
    let job = try await outbox.job("\(url)/redirect", "\(url)/gone", "\(url)/large")
    for _ in 0..<3 { try await outbox.append(.participantJoined, of: job) }
    await outbox.dispatcher(try sender()).sendDue()
    let requests = receiver.requests
    #expect(requests.count { $0.path == "/redirect" } == 1)
    #expect(requests.count { $0.path == "/gone" } == 1)
    #expect(requests.count { $0.path == "/large" } == 3)
    #expect(!requests.contains { $0.path == "/stolen" })
    #expect(Self.isValid(requests))
    #expect(try await outbox.deliveries(.disabled).count == 3)
    #expect(try await outbox.deliveries(.delivered).count == 3)
    #expect(try await outbox.deliveries(.pending).contains { $0.status == 302 })
  }

  @Test func `while a secret is rotated, the former and the next one verify`() async throws {
    let outbox = try await OutboxFixture()
    let next = try #require(WebhookSecret.randomText())
    let receiver = try await WebhookReceiver(secrets: [outbox.secret, next])
    let job = try await outbox.job("http://hooks.example:\(receiver.port)/ok")
    let dispatcher = outbox.dispatcher(try sender())
    func send() async throws {
      try await outbox.append(.participantJoined, of: job)
      await dispatcher.sendDue()
    }
    try await send()
    try PrivateFile.append(outbox.secretFile, line: next)
    try await send()
    try FileManager.default.removeItem(atPath: outbox.secretFile)
    try PrivateFile.create(outbox.secretFile, next)
    try await send()
    #expect(receiver.requests.map(\.isValid) == [[true, false], [true, true], [false, true]])
  }

  @Test func `no private address is connected to, whatever name stands for it`() async throws {
    let outbox = try await OutboxFixture()
    let receiver = try await WebhookReceiver(secrets: [outbox.secret])
    let job = try await outbox.job("https://hooks.example:\(receiver.port)/ok")
    try await outbox.append(.jobStarted, of: job)
    let dispatcher = outbox.dispatcher(try sender { $0.allowsPrivate = false }, allowsPrivate: false)
    for _ in 0..<5 {
      await dispatcher.sendDue()
      outbox.clock.advance(.seconds(3_600))
    }
    let delivery = try #require(try await outbox.deliveries().first)
    #expect(delivery.tries == 5)
    #expect(delivery.error == "The receiver is on this machine or in a private network.")
    #expect(receiver.lines.isEmpty)
  }

  @Test func `a receiver with TLS must have a certificate for its name`() async throws {
    let outbox = try await OutboxFixture()
    let (certificate, key) = ("\(outbox.folder)/cert.pem", "\(outbox.folder)/key.pem")
    let made = try ExternalTool.run(
      "openssl",
      [
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test", "-addext",
        "subjectAltName=DNS:hooks.example", "-keyout", key, "-out", certificate,
      ])
    try #require(made.status == 0, "\(made.errors)")
    let receiver = try await WebhookReceiver(secrets: [outbox.secret], tls: (certificate, key))
    let job = try await outbox.job(
      "https://hooks.example:\(receiver.port)/ok", "https://other.example:\(receiver.port)/other")
    try await outbox.append(.jobStarted, of: job)
    await outbox.dispatcher(try sender()).sendDue()
    #expect(receiver.requests.isEmpty)
    outbox.clock.advance(.seconds(60))
    await outbox.dispatcher(try sender { $0.ca = certificate }).sendDue()
    #expect(receiver.requests.map(\.path) == ["/ok"])
    #expect(receiver.requests.map(\.host) == ["hooks.example:\(receiver.port)"])
    #expect(receiver.lines.contains { $0.contains(#"{"sni": "hooks.example"}"#) })
    #expect(try await outbox.deliveries(.pending).map(\.url) == ["https://other.example:\(receiver.port)/other"])
    #expect(throws: WebhookSender.SetupError.self) { try sender { $0.ca = key } }
  }

  @Test func `the receiver of the documentation takes an event once, and refuses one that is changed`() async throws {
    let outbox = try await OutboxFixture()
    let example = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Examples/Webhooks/receiver.py")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(WebhookReceiver.python))
    process.arguments = ["-u", example.path, "0"]
    process.environment = ["CHATBOT_WEBHOOK_SECRET": outbox.secret]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    // If a part of the test fails, the process ends as well. Its thread may have blocked other signals.
    defer { kill(process.processIdentifier, SIGKILL) }
    // Python writes a line in parts.
    var first = ""
    while !first.hasSuffix("\n") {
      let part = output.fileHandleForReading.availableData
      if part.isEmpty { break }
      first += String(decoding: part, as: UTF8.self)
    }
    let port = try #require(Int(first.split(whereSeparator: \.isWhitespace).last ?? ""))
    let job = try await outbox.job("http://hooks.example:\(port)/")
    try await outbox.append(.jobStarted, of: job, #"{"attempt": 1}"#)
    await outbox.dispatcher(try sender()).sendDue()
    _ = try await outbox.store.replay(DeliveryID(event: 1, webhook: 0), project: "p")
    await outbox.dispatcher(try sender()).sendDue()
    let url = try WebhookURL("http://hooks.example:\(port)/", allowsPrivate: true)
    let other = try #require(WebhookSecret.randomText())
    let wrong = WebhookSecretList(try #require(WebhookSecret(other)))
    let refused = try await sender().send(WebhookMessage(id: "e2", body: Array("{}".utf8)), to: url, secrets: wrong)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    let rest = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    #expect(rest == "\(job) 1 job.started {\"attempt\": 1}\n")
    #expect(try await outbox.deliveries(.delivered).count == 1)
    guard case .failed(let failure) = refused else {
      Issue.record("It was taken.")
      return
    }
    #expect(failure.status == 401)
  }
}
