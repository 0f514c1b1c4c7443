import Media
import Synchronization
import Testing
import Webhooks

@Suite("Sending webhooks", .timeLimit(.minutes(1)))
struct SenderTests {
  /// A resolver with one answer after the other; the last one remains.
  private final class ScriptedResolver: WebhookResolver {
    private let answers: Mutex<[[String]]>
    private let asked = Mutex(0)
    private let delay: Duration

    init(_ answers: [String]..., after delay: Duration = .zero) {
      self.answers = Mutex(answers)
      self.delay = delay
    }

    var questions: Int { asked.withLock { $0 } }

    func addresses(of host: String) async throws(WebhookResolverError) -> [IPAddress] {
      asked.withLock { $0 += 1 }
      try? await Task.sleep(for: delay)
      let answer = answers.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? [] }
      if answer.isEmpty { throw WebhookResolverError("The name of the receiver has no address.") }
      return answer.compactMap { IPAddress($0) }
    }
  }

  private let message = WebhookMessage(id: "e1", body: Array("{}".utf8))
  private let secrets: WebhookSecretList

  init() throws {
    secrets = WebhookSecretList(try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")))
  }

  private func send(
    to text: String, resolver: ScriptedResolver = ScriptedResolver(["127.0.0.1"]), allowsPrivate: Bool = true,
    timeout: Duration = .seconds(10)
  ) async throws -> WebhookOutcome {
    var settings = WebhookSender.Settings()
    settings.allowsPrivate = allowsPrivate
    settings.timeout = timeout
    let sender = try WebhookSender(settings, resolver: resolver, userAgent: "chatbot/test")
    return await sender.send(message, to: try WebhookURL(text, allowsPrivate: allowsPrivate), secrets: secrets)
  }

  private static func answer(_ status: Int, _ fields: String = "", _ body: String = "") -> RawServer.Answer {
    .bytes("HTTP/1.1 \(status) X\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
  }

  private func failure(_ outcome: WebhookOutcome) throws -> WebhookFailure {
    guard case .failed(let failure) = outcome else {
      Issue.record("The outcome is \(outcome).")
      return .init(.unusable, "")
    }
    return failure
  }

  @Test func `a receiver gets one signed request under its own name`() async throws {
    let server = try await RawServer(Self.answer(204))
    let outcome = try await send(to: "http://hooks.example:\(server.port)/a?b=%20c")
    #expect(outcome == .delivered(status: 204))
    let request = try #require(server.requests.first).lowercased()
    #expect(server.requests.count == 1)
    #expect(request.hasPrefix("post /a?b=%20c http/1.1\r\n"))
    for field in [
      "host: hooks.example:\(server.port)", "content-type: application/json", "user-agent: chatbot/test",
      "webhook-id: e1",
      "webhook-timestamp: ", "webhook-signature: v1,", "content-length: 2",
    ] { #expect(request.contains("\r\n\(field)"), "\(field)") }
    #expect(request.hasSuffix("\r\n\r\n{}"))
  }

  @Test(arguments: [301, 302, 303, 307, 308]) func `a redirect is a failure, and nobody is sent anything`(status: Int)
    async throws
  {
    let other = try await RawServer(Self.answer(204))
    let server = try await RawServer(Self.answer(status, "Location: http://127.0.0.1:\(other.port)/\r\n"))
    let failure = try failure(try await send(to: "http://hooks.example:\(server.port)/"))
    #expect(failure.kind == .status && failure.status == status)
    #expect(other.connections == 0)
  }

  @Test func `410 is an end, and other answers say what they have`() async throws {
    let gone = try await RawServer(Self.answer(410))
    #expect(try await send(to: "http://hooks.example:\(gone.port)/") == .gone)
    let broken = try await RawServer(Self.answer(500, "", "no\u{1B}[31m\r\nroom"))
    let failure = try failure(try await send(to: "http://hooks.example:\(broken.port)/"))
    #expect(failure.status == 500)
    #expect(failure.sentence == #"The receiver answered with 500: no\u{1b}[31m\u{d}\u{a}room"#)
    let closing = try await RawServer(.close)
    let lost = try self.failure(try await send(to: "http://hooks.example:\(closing.port)/"))
    #expect(lost.kind == .connection && lost.status == nil)
    let nonsense = try await RawServer(.bytes("SSH-2.0-OpenSSH\r\n\r\n"))
    #expect(try self.failure(try await send(to: "http://hooks.example:\(nonsense.port)/")).kind == .connection)
  }

  @Test func `a receiver that does not answer is left after the time-out`() async throws {
    let server = try await RawServer(.nothing)
    let start = ContinuousClock.now
    let failure = try failure(
      try await send(to: "http://hooks.example:\(server.port)/", timeout: .milliseconds(300)))
    #expect(failure.kind == .timeout)
    #expect(ContinuousClock.now - start < .seconds(5))
    let slow = ScriptedResolver(["127.0.0.1"], after: .seconds(20))
    let late = try self.failure(
      try await send(to: "http://hooks.example:\(server.port)/", resolver: slow, timeout: .milliseconds(300)))
    #expect(late.kind == .timeout)
    #expect(ContinuousClock.now - start < .seconds(10))
  }

  @Test func `no more of an answer is read than 64 KiB, and one without an end ends with the time-out`() async throws {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    let flood = try await RawServer(.endless(head, "8000\r\n" + String(repeating: "x", count: 0x8000) + "\r\n"))
    let start = ContinuousClock.now
    #expect(try await send(to: "http://hooks.example:\(flood.port)/") == .delivered(status: 200))
    #expect(ContinuousClock.now - start < .seconds(5))
    let hanging = try await RawServer(.bytes("HTTP/1.1 503 Busy\r\nContent-Length: 9\r\n\r\nbus"))
    let failure = try failure(
      try await send(to: "http://hooks.example:\(hanging.port)/", timeout: .seconds(2)))
    #expect(failure.status == 503)
    let fields = try await RawServer(.endless("HTTP/1.1 200 OK\r\n", "a: b\r\n"))
    let endless = try self.failure(try await send(to: "http://hooks.example:\(fields.port)/", timeout: .seconds(1)))
    #expect([.connection, .timeout].contains(endless.kind))
  }

  @Test(arguments: [
    ["127.0.0.1"], ["::1"], ["::ffff:127.0.0.1"], ["64:ff9b::7f00:1"], ["1.1.1.1", "10.0.0.1"], ["169.254.169.254"],
  ])
  func `a name that stands for a private address is not connected to`(addresses: [String]) async throws {
    let server = try await RawServer(Self.answer(204))
    let resolver = ScriptedResolver(addresses)
    let failure = try failure(
      try await send(to: "https://hooks.example:\(server.port)/", resolver: resolver, allowsPrivate: false))
    #expect(failure.kind == .address)
    #expect(failure.sentence == "The receiver is on this machine or in a private network.")
    #expect(server.connections == 0)
  }

  @Test func `a name that changes its address after it was checked is connected to at the checked one`() async throws {
    // A public address first, then the receiver's: that of documentation is not routed anywhere.
    let server = try await RawServer(Self.answer(204))
    let rebinding = ScriptedResolver(["192.0.2.1"], ["127.0.0.1"])
    let failure = try failure(
      try await send(to: "http://hooks.example:\(server.port)/", resolver: rebinding, timeout: .milliseconds(500)))
    #expect([.timeout, .connection].contains(failure.kind))
    #expect(rebinding.questions == 1)
    #expect(server.connections == 0)
    // The next try asks again, and checks again.
    #expect(
      try await send(to: "http://hooks.example:\(server.port)/", resolver: rebinding) == .delivered(status: 204))
    // A name of this machine that the system's resolver knows is not looked up by it.
    let other = ScriptedResolver(["127.0.0.2"])
    let refused = try self.failure(
      try await send(to: "http://localhost:\(server.port)/", resolver: other, timeout: .seconds(2)))
    #expect(refused.kind == .connection)
    #expect(server.connections == 1)
  }

  @Test func `the next address of a name is tried where the first one cannot be connected to`() async throws {
    let server = try await RawServer(Self.answer(204))
    let resolver = ScriptedResolver(["127.0.0.2", "127.0.0.1"])
    #expect(try await send(to: "http://hooks.example:\(server.port)/", resolver: resolver) == .delivered(status: 204))
    // One that was connected to and failed is not followed by another one.
    let closing = try await RawServer(.close)
    let twice = ScriptedResolver(["127.0.0.1", "127.0.0.1"])
    _ = try failure(try await send(to: "http://hooks.example:\(closing.port)/", resolver: twice))
    #expect(closing.requests.count == 1)
  }

  @Test func `a name in capital letters is connected to at the address that was checked`() async throws {
    let server = try await RawServer(Self.answer(204))
    let resolver = ScriptedResolver(["127.0.0.1"])
    #expect(
      try await send(to: "HTTP://Hooks.Example:\(server.port)/A", resolver: resolver) == .delivered(status: 204))
    #expect(server.requests.first?.hasPrefix("POST /A HTTP/1.1\r\n") == true)
    #expect(resolver.questions == 1)
  }

  @Test func `a connection that is refused ends the try at once`() async throws {
    // It listens on 127.0.0.1 only.
    let server = try await RawServer(Self.answer(204))
    let start = ContinuousClock.now
    let failure = try failure(
      try await send(to: "http://hooks.example:\(server.port)/", resolver: ScriptedResolver(["127.0.0.2"])))
    #expect(failure.kind == .connection)
    #expect(ContinuousClock.now - start < .seconds(5))
    #expect(server.connections == 0)
  }

  @Test func `an address of the other protocol is tried where several of one cannot be connected to`() async throws {
    let server = try await RawServer(Self.answer(204))
    let resolver = ScriptedResolver(["::1", "::2", "::3", "127.0.0.1"])
    #expect(try await send(to: "http://hooks.example:\(server.port)/", resolver: resolver) == .delivered(status: 204))
  }

  @Test func `a name without an address is a failure of the name`() async throws {
    let failure = try failure(try await send(to: "http://hooks.example:1/", resolver: ScriptedResolver([])))
    #expect(failure.kind == .address)
    await #expect(throws: WebhookResolverError.self) { try await SystemResolver().addresses(of: "nothing.invalid") }
    let own = try await SystemResolver().addresses(of: "localhost")
    #expect(!own.isEmpty && own.allSatisfy { !$0.isPublic })
  }

  @Test func `a try that is cancelled ends at once`() async throws {
    let server = try await RawServer(.nothing)
    let port = server.port
    let task = Task { try await send(to: "http://hooks.example:\(port)/") }
    while server.requests.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
    let start = ContinuousClock.now
    task.cancel()
    #expect(try failure(try await task.value).kind == .cancelled)
    #expect(ContinuousClock.now - start < .seconds(5))
  }
}
