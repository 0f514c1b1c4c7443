import ArgumentParser

/// Mistakes of the command line that are found only when a command runs, as in a file that it names.
enum UsageErrors {
  /// Does a command's work; such a mistake is told with the command's own usage, as the parser tells those that it finds itself.
  static func told(
    for command: any ParsableCommand.Type, on console: Console, _ work: () async throws -> Void
  ) async throws {
    do {
      try await console.carryOut(work)
    } catch let error as ValidationError {
      let name = command.configuration.commandName ?? ""
      console.write(
        line: """
          Error: \(error.message)
          Usage: \(Chatbot.usageString(for: command))
            See 'chatbot \(name) --help' for more information.
          """)
      throw ExitCodes.usage.exitCode
    }
  }
}
