import ArgumentParser
import CallCheck

/// Errors of the command line that are found only when a command runs, for example in a file that it names.
enum UsageErrors {
  /// Runs a command's work, and reports a `ValidationError` with the command's usage, as the parser reports its own
  /// errors.
  static func reported(
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

/// Detects misspelt subcommands: a plain call takes no positional arguments, so a word can only be meant as a subcommand.
enum Subcommands {
  static var names: [String] { Chatbot.configuration.subcommands.compactMap { $0.configuration.commandName } }

  /// The error message for an unknown word.
  static func rejection(of word: String) -> String {
    let shown = StatusLine.plain(word, longest: 40)
    if let near = near(word) { return "There is no subcommand “\(shown)”; did you mean \(near)?" }
    return
      "There is no subcommand “\(shown)”; there are \(names.dropLast().joined(separator: ", ")) and \(names.last ?? "")."
  }

  /// The subcommand that was probably meant, if one is similar enough.
  private static func near(_ word: String) -> String? {
    let letters = Array(word.lowercased().prefix(40))
    let found = names.map { (name: $0, distance: EditDistance.distance(letters, Array($0))) }.min {
      $0.distance < $1.distance
    }
    guard let found, found.distance <= max(1, found.name.count / 2 - 1) else { return nil }
    return found.name
  }
}
