import ArgumentParser
import CallCheck
import Console
import Media

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
      throw ExitStatus.usage.exitCode
    }
  }
}

/// Explains words that belong to no option: a plain call takes no positional arguments, so such a word is the value of an
/// unknown option, or a misspelt subcommand.
enum Subcommands {
  static var names: [String] { Chatbot.configuration.subcommands.compactMap { $0.configuration.commandName } }

  /// The error message for an unknown word.
  ///
  /// - Parameter arguments: all arguments of the program.
  static func rejection(of word: String, in arguments: [String] = CommandLine.arguments) -> String {
    if let index = arguments.dropFirst().firstIndex(of: word), index > 1,
      let sentence = unknownOption(arguments[index - 1])
    {
      return sentence
    }
    let shown = DisplayText.plain(word, longest: 40)
    if let near = near(word) { return "There is no subcommand “\(shown)”; did you mean \(near)?" }
    return "There is no subcommand “\(shown)”; there are \(list(names))."
  }

  /// The error message for an option that a plain call does not have; nil if it has it, or if the text is no option.
  private static func unknownOption(_ text: String) -> String? {
    guard text.hasPrefix("--"), text.count > 2, !has(CallCommand.self, text) else { return nil }
    let others = Chatbot.configuration.subcommands.filter { has($0, text) }.compactMap { $0.configuration.commandName }
    let shown = DisplayText.plain(text, longest: 40)
    if others.isEmpty { return "There is no option \(shown)." }
    return "A call has no option \(shown); \(list(others)) \(others.count == 1 ? "has" : "have") it."
  }

  private static func has(_ command: any ParsableCommand.Type, _ option: String) -> Bool {
    Chatbot.helpMessage(for: command, includeHidden: true).split { " ,\n".contains($0) }.contains(Substring(option))
  }

  private static func list(_ names: [String]) -> String {
    names.count < 2 ? names.first ?? "" : names.dropLast().joined(separator: ", ") + " and " + (names.last ?? "")
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
