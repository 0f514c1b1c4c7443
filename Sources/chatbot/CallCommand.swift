import ArgumentParser
import Logging

/// Takes part in a call: records, plays, or both.
struct CallCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "call", abstract: "Take part in the call of a room (the default command).")

  @OptionGroup var options: CallOptions

  func run() async throws {
    let console = Console(isQuiet: options.log.quiet)
    let log = console.logger("chatbot", level: options.log.level)
    do {
      try await Call(options: options, console: console, log: log).run()
    } catch let failure as CallFailure {
      console.report(failure.sentence)
      throw failure.code.exitCode
    } catch {
      console.report("\(error)")
      throw ExitCodes.unexpected.exitCode
    }
  }
}
