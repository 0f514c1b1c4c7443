import ArgumentParser
import CallCheck

/// Mistakes of the command line that are found only when a command runs, as in a file that it names.
enum UsageErrors {
  /// Does a command's work; such a mistake is told with the command's own usage, as the parser tells those that it finds itself.
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

/// Tells a subcommand that was written wrongly: a plain call takes no word that is not an option's, so that nothing else can be meant.
enum Subcommands {
  static var names: [String] { Chatbot.configuration.subcommands.compactMap { $0.configuration.commandName } }

  /// What to say of a word that is none.
  static func rejection(of word: String) -> String {
    let shown = StatusLine.plain(word, longest: 40)
    if let near = near(word) { return "There is no subcommand “\(shown)”; did you mean \(near)?" }
    return
      "There is no subcommand “\(shown)”; there are \(names.dropLast().joined(separator: ", ")) and \(names.last ?? "")."
  }

  /// The one that was meant, if that can be told.
  private static func near(_ word: String) -> String? {
    let letters = Array(word.lowercased().prefix(40))
    let found = names.map { (name: $0, distance: EditDistance.distance(letters, Array($0))) }.min {
      $0.distance < $1.distance
    }
    guard let found, found.distance <= max(1, found.name.count / 2 - 1) else { return nil }
    return found.name
  }
}
