import ArgumentParser
import CommandSettings
import Console

/// Errors of the command line.
enum UsageErrors {
  /// Runs a command's work, and reports a `ValidationError` with the command's usage, as the parser reports its own
  /// errors: for errors that are found only when a command runs, for example in a file that it names.
  static func reported(
    for command: any ParsableCommand.Type, on console: Console, _ work: () async throws -> Void
  ) async throws {
    do {
      try await console.carryOut(work)
    } catch let error as ValidationError {
      console.write(line: text(error.message, of: command))
      throw ExitStatus.usage.exitCode
    }
  }

  /// The text for an error of the parser; nil where its own is better: help, the version, and errors without a command.
  ///
  /// - Parameters:
  ///   - settings: The values of the command's options, with their origins.
  ///   - arguments: Those of the user.
  static func text(
    _ error: any Error, settings: CommandSettings, arguments: [String], of root: CommandDescription
  ) -> String? {
    guard Chatbot.exitCode(for: error) == .validationFailure else { return nil }
    let advice = UsageAdvice(arguments, of: root)
    let command = Chatbot.command(named: settings.command.name)
    if let sentence = advice.sentence { return text(sentence, of: command) }
    let origins = settings.origins(namedIn: Chatbot.message(for: error))
    return origins.isEmpty
      ? nil : text(([Chatbot.message(for: error)] + origins).joined(separator: "\n  "), of: command)
  }

  /// An error with the usage of the command, as the parser writes it.
  static func text(_ sentence: String, of command: any ParsableCommand.Type) -> String {
    """
    Error: \(sentence)
    Usage: \(Chatbot.usageString(for: command))
      See 'chatbot \(command.configuration.commandName ?? "") --help' for more information.
    """
  }
}
