import Foundation
import Testing

extension EndToEnd {
  /// The processes that a test run leaves behind, observed from outside.
  @Suite("test runs") struct InterruptionTests {
    /// Set for the observed run.
    static let variable = "CHATBOT_INTERRUPTED_RUN"

    @Test(
      "a run that ends, is interrupted or is killed leaves no process behind", .enabled(if: Machine.hasChromium),
      arguments: [nil, SIGINT, SIGKILL] as [Int32?])
    func leavesNothing(_ signal: Int32?) async throws {
      let name = signal.map { "signal \($0)" } ?? "no signal"
      try await Scenario.run("0b a run and \(name)") { scenario in
        let program = try #require(Bundle.main.executablePath)
        let run = try await scenario.program(
          "run",
          // A shell makes its background processes ignore SIGINT.
          [
            "setsid", "--wait", "env", "--default-signal=INT", program, "--testing-library", "swift-testing",
            "--filter",
            "InterruptedRunTests",
          ],
          environment: [Self.variable: signal == nil ? "1" : "60", "CHATBOT_JOURNAL": "/dev/null"])
        try await eventually("run with everything in it", within: .seconds(40)) {
          try #require(run.isRunning, "\(run.output)")
          return run.output.contains(InterruptedRunTests.ready) ? true : nil
        }
        let leader = try #require(Self.children(of: run.id).first)
        let started = Self.processes(inSession: leader)
        await scenario.note("\(started.count) processes run")
        #expect(started.count > 5, "the test process, a server, a bot, a stall meter and a browser")
        // Sent to the foreground group, as a terminal does. The programs started by the tests have their own groups.
        if let signal { _ = kill(-leader, signal) }
        try await eventually("end of all that the run started", within: .seconds(10)) {
          Self.processes(inSession: leader).isEmpty ? true : nil
        }
        _ = try await run.ending(within: .seconds(5))
      }
    }

    private static func children(of process: Int32) -> [Int32] { all { $0.parent == process } }

    /// Returns the running processes of a session.
    private static func processes(inSession session: Int32) -> [Int32] {
      all { $0.session == session && $0.state != "Z" }
    }

    private static func all(
      _ isIncluded: ((state: Substring, parent: Int32, session: Int32)) -> Bool
    ) -> [Int32] {
      ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { name in
        // "17 (a name) S 1 17 17": state, parent, process group, session.
        guard let process = Int32(name), let text = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8),
          let end = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[end...].split(separator: " ").dropFirst()
        guard fields.count > 4, let parent = Int32(fields[2]), let session = Int32(fields[4]) else { return nil }
        return isIncluded((fields[1], parent, session)) ? process : nil
      }
    }
  }

  /// The run that `InterruptionTests` observes.
  @Suite(
    "interrupted run", .enabled(if: ProcessInfo.processInfo.environment[InterruptionTests.variable] != nil))
  struct InterruptedRunTests {
    static let ready = "everything runs"

    @Test("a server, a bot and a browser run")
    func runs() async throws {
      let seconds = Int(ProcessInfo.processInfo.environment[InterruptionTests.variable] ?? "") ?? 0
      try await Scenario.run("0c a run that is interrupted") { scenario in
        let server = try await scenario.server()
        let bot = try await scenario.bot(in: "100", of: server, ["--play", BuiltProgram.sample.path])
        let call = try await scenario.call(in: scenario.chromium(), room: "100", server: server, camera: .refused)
        try await call.connected()
        print(Self.ready)
        fflush(nil)
        try await sleepOnEventLoop(for: .seconds(seconds))
        #expect(bot.isRunning)
      }
    }
  }
}
