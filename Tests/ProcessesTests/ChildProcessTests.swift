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
    await child.diagnosticsRead()
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

  @Test("a program that does not exist is named")
  func missing() async {
    let error = await #expect(throws: ChildProcess.StartError.self) {
      try await ChildProcess.start(["/no/such/program"], on: MultiThreadedEventLoopGroup.singleton.any()) { _ in }
    }
    #expect(error?.isPermanent == true && error?.description.contains("/no/such/program") == true)
  }
}
