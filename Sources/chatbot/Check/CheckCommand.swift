import ArgumentParser
import BotPeer
import CallCheck
import Console
import FaultInjection
import Logging

/// Joins a call and checks whether it works.
struct CheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Join a call and check whether it works.",
    discussion: """
      chatbot check --room 100 --expect 'video.fps >= 24' --expect 'audio.silence <= 1s' --html report.html
      chatbot check --self                    can this machine keep up?

      It sends the test pattern, or a file, and judges what each peer sends. Exits with 0 if all rules hold and with 1 if \
      one does not; a rule that cannot be measured does not hold.
      """)

  @OptionGroup var options: CheckOptions

  func run() async throws {
    if options.listsFaults { return print(Fault.list) }
    if options.rules.measurements { return print(Measurement.list) }
    let console = try options.log.console()
    let log = console.logger("check", level: options.log.logLevel ?? (options.log.quiet ? .error : .warning))
    try await UsageErrors.reported(for: Self.self, on: console) {
      let report = try await Check(options: options, console: console, log: log).run()
      switch report.verdict {
      case .held: break
      case .failed: throw ExitStatus.ruleFailed.exitCode
      case .inconclusive: throw ExitStatus.inconclusive.exitCode
      }
    }
  }
}
