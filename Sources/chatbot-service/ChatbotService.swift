import ArgumentParser
import CommandSettings
import Glibc

@main
struct ChatbotService: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "chatbot-service",
    abstract: "Runs jobs that join rooms: records calls, plays, loops back, checks.",
    discussion: """
      chatbot-service                            serve the API and the page at http://127.0.0.1:8080
      chatbot-service jobs submit --room 100     record a room until it is empty
      chatbot-service jobs list                  what runs, and what ran
      chatbot-service jobs events --follow       what happens

      Without a configuration file all is kept in ./chatbot-data, and the commands use its admin.token.
      """,
    version: ProgramVersion.text,
    subcommands: [
      RunCommand.self, JobsCommand.self, UploadCommand.self, TokenCommand.self, CheckConfigCommand.self,
      ManualCommand.self,
    ],
    defaultSubcommand: RunCommand.self)
}

/// Exit codes of sysexits.h.
enum ServiceExit {
  static let usage = ExitCode(64)
  static let unavailable = ExitCode(69)
  static let failure = ExitCode(1)
  static let noInput = ExitCode(66)
  /// Not everything was stored (EX_IOERR).
  static let incomplete = ExitCode(74)
  static let tryAgain = ExitCode(75)
  static let noPermission = ExitCode(77)

  /// Writes a sentence on standard error.
  static func report(_ sentence: String) {
    let line = Array("chatbot-service: \(sentence)\n".utf8)
    _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
