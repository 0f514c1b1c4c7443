import ExecSignalling
import Foundation
import Media
import Signalling
import TestSupport
import Testing

@Suite("A hostile program", .timeLimit(.minutes(1)))
struct HostileProgramTests {
  /// Expects that connecting fails because the program is lost, and that it is reaped.
  private func expectLost(
    _ text: String, saying words: String, _ change: (inout ExecClient.Options) -> Void = { _ in }
  ) async throws {
    let script = try Script(text)
    defer { script.remove() }
    let client = try script.client(change)
    let failure = await Script.failure(of: client)
    guard case .unreachable(let sentence)? = failure else {
      Issue.record("The failure is \(String(describing: failure)).")
      return
    }
    #expect(sentence.contains(words), "\(sentence)")
    #expect(try script.remaining() == [])
    await client.leave()
  }

  @Test("that never answers is ended after the time-out, also if it ignores SIGTERM")
  func silent() async throws {
    let short = { (options: inout ExecClient.Options) in options.helloTimeout = .milliseconds(300) }
    try await expectLost("sleep 100", saying: "did not say hello within 0.3 seconds", short)
    try await expectLost(
      "trap '' TERM; while :; do sleep 100; done", saying: "did not say hello within 0.3 seconds", short)
    try await expectLost(
      "read hello; echo '{\"type\":\"hello\",\"version\":1}'; sleep 100", saying: "did not join within 0.3 seconds"
    ) { $0.joinTimeout = .milliseconds(300) }
  }

  @Test("that floods its standard output is ended")
  func floods() async throws {
    try await expectLost("yes", saying: "lines that are no messages")
    try await expectLost("cat /dev/zero", saying: "a line of more than 1048576 bytes")
    try await expectLost("yes '{\"type\":\"later\"}'", saying: "more than 1000 lines a second")
  }

  @Test("that floods its standard error joins, and leaves nothing behind")
  func noise() async throws {
    let script = try Script("yes >&2 & \n" + Script.joining + Script.staying)
    defer { script.remove() }
    let client = try script.client()
    try await client.connect()
    await client.leave()
    #expect(try script.remaining() == [])
  }

  @Test("that closes a pipe but lives is lost, and so is one that ends in the middle of a line")
  func closedPipes() async throws {
    try await expectLost("exec >&-; sleep 100", saying: "sh has closed its standard output.")
    try await expectLost("exec <&-; sleep 100", saying: "sh has closed its standard input.")
    try await expectLost("printf '{\"type\":\"hel'; exit 7", saying: "sh ended with exit code 7.")
    try await expectLost(
      "echo bad >&2; kill -9 $$", saying: "by signal 9 (SIGKILL); the last line of its standard error was \"bad\"")
    // Somebody else holds the pipes of a program that has ended.
    try await expectLost("setsid sleep 5 & exit 4", saying: "sh ended with exit code 4.")
  }

  @Test("that ignores leave and SIGTERM is killed, with what it has started")
  func stubborn() async throws {
    let script = try Script(
      "trap '' TERM\nsh -c 'echo $$ >>'\"$HERE/ids\"'; sleep 100' &\n" + Script.joining + "while :; do sleep 100; done")
    defer { script.remove() }
    let client = try script.client()
    try await client.connect()
    let start = ContinuousClock.now
    await client.leave()
    #expect(ContinuousClock.now - start < .seconds(20))
    var remaining = try script.remaining()
    // What it has started is reaped by the first process of the system, a little later.
    for _ in 0..<100 where !remaining.isEmpty {
      try await Task.sleep(for: .milliseconds(20))
      remaining = try script.remaining().filter { !Self.isZombie($0) }
    }
    #expect(remaining == [])
  }

  private static func isZombie(_ id: String) -> Bool {
    (try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8))?.contains(") Z ") ?? true
  }

  @Test("that does not read loses its connection before much waits for it")
  func deaf() async throws {
    let script = try Script(Script.joining + "sleep 100")
    defer { script.remove() }
    let client = try script.client()
    var events = client.events.makeAsyncIterator()
    try await client.connect()
    _ = await events.next()
    let message = SignallingMessage.offer(String(repeating: "x", count: 100_000))
    for _ in 0..<60 { client.send(message, to: "anna") }
    let lost = await events.next()
    guard case .connectionLost(let reason, _)? = lost else { return #expect(Bool(false)) }
    #expect(reason == "sh does not read its standard input: 4194304 bytes wait.")
    await client.leave()
    #expect(try script.remaining() == [])
  }

  @Test("that ends at once, again and again, is started with pauses, and leaving during one is quick")
  func restarts() async throws {
    let script = try Script("[ -e \"$HERE/again\" ] && exit 1\ntouch \"$HERE/again\"\n" + Script.joining)
    defer { script.remove() }
    let client = try script.client {
      $0.minimumRetryDelay = .milliseconds(100)
      $0.maximumRetryDelay = .seconds(50)
    }
    var events = client.events.makeAsyncIterator()
    try await client.connect()
    _ = await events.next()
    for _ in 0..<3 {
      let event = await events.next()
      guard case .connectionLost(let reason, let wait)? = event else { return #expect(Bool(false)) }
      #expect(reason.hasPrefix("sh ended with exit code ") && wait >= .milliseconds(100))
    }
    let start = ContinuousClock.now
    await client.leave()
    #expect(ContinuousClock.now - start < .seconds(20))
    #expect(try script.remaining() == [])
  }
}
