import Foundation
import Media
import NIOPosix
import Processes
import Synchronization
import Testing

@Suite("child processes")
struct ChildProcessTests {
  private final class Lines: Sendable {
    let all = Mutex<[String]>([])
  }

  /// Runs a script of the shell, and returns its standard error and how it ended.
  private func run(_ script: String, environment: [String: String]?) async throws -> ([String], ChildExit) {
    let lines = Lines()
    let child = try await ChildProcess.start(
      ["/bin/sh", "-c", script], environment: environment, on: MultiThreadedEventLoopGroup.singleton.any()
    ) { line in lines.all.withLock { $0.append(line.text) } }
    let how = await child.end(within: .seconds(20))
    return (lines.all.withLock(\.self), how)
  }

  @Test("a program has the given variables and no others, or those of this process")
  func environment() async throws {
    let (own, how) = try await run(
      #"echo "$ONE|${HOME-none}" >&2; exit 3"#, environment: ["ONE": "a b=c", "PATH": "/bin:/usr/bin"])
    #expect(own == ["a b=c|none"] && how == .code(3))
    let (inherited, _) = try await run(#"echo "${PATH:+set}" >&2"#, environment: nil)
    #expect(inherited == ["set"])
  }

  /// Starts a script of the shell, whose standard input is empty.
  private func start(_ script: String, killsGroup: Bool = true) async throws -> ChildProcess {
    try await ChildProcess.start(
      ["/bin/sh", "-c", script], onlyErrors: true, killsGroup: killsGroup,
      on: MultiThreadedEventLoopGroup.singleton.any()
    ) { _ in }
  }

  @Test("the last line of a long standard error is known when the program has ended")
  func lastLine() async throws {
    for _ in 0..<3 {
      let child = try await start("yes 0123456789 | head -c 149996 >&2; echo 'fatal: no such bucket' >&2; exit 3")
      let how = await child.end(within: .seconds(20))
      #expect(how == .code(3) && child.lastDiagnostic == "fatal: no such bucket")
    }
  }

  @Test("also that of a program which SIGTERM ends")
  func lastLineAfterSignal() async throws {
    let child = try await start(
      "trap 'yes 0123456789 | head -c 59994 >&2; echo stopped >&2; exit 4' TERM; echo ready >&2; "
        + "while :; do sleep 0.02; done")
    while child.lastDiagnostic != "ready" { try await Task.sleep(for: .milliseconds(10)) }
    let how = await child.end(within: .zero, grace: .seconds(20))
    #expect(how == .code(4) && child.lastDiagnostic == "stopped")
  }

  @Test("what a program leaves in its group may stay, and its pipe is not waited for", arguments: [true, false])
  func group(killsGroup: Bool) async throws {
    let child = try await start("sleep 600 & echo $! >&2", killsGroup: killsGroup)
    let how = await child.end(within: .seconds(20), grace: .seconds(10))
    let background = try #require(child.lastDiagnostic.flatMap { Int32($0) })
    #expect(how == .code(0))
    if killsGroup {
      // A process that was killed ends soon, and may wait for init to reap it.
      let ends: [Character?] = [nil, "X", "Z"]
      for _ in 0..<1_000 where !ends.contains(state(of: background)) { try await Task.sleep(for: .milliseconds(10)) }
      #expect(ends.contains(state(of: background)))
    } else {
      #expect(kill(background, SIGKILL) == 0)
    }
  }

  /// The state of a process as proc(5) has it; nil if there is none.
  private func state(of process: Int32) -> Character? {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return nil }
    return text.split(separator: ")").last?.first { $0 != " " }
  }

  @Test("a program that does not exist is named")
  func missing() async {
    let error = await #expect(throws: ChildProcess.StartError.self) {
      try await ChildProcess.start(["/no/such/program"], on: MultiThreadedEventLoopGroup.singleton.any()) { _ in }
    }
    #expect(error?.isPermanent == true && error?.description.contains("/no/such/program") == true)
  }
}
