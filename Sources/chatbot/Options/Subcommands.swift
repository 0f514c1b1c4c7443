import ArgumentParser
import CallCheck

/// Tells a subcommand that was written wrongly: a plain call takes no word that is not an option's, so that nothing else can be meant.
enum Subcommands {
  static var names: [String] { Chatbot.configuration.subcommands.compactMap { $0.configuration.commandName } }

  /// What to say of a word that is none.
  static func refusal(of word: String) -> String {
    let shown = StatusLine.plain(word, longest: 40)
    if let near = near(word) { return "There is no subcommand “\(shown)”; did you mean \(near)?" }
    return
      "There is no subcommand “\(shown)”; there are \(names.dropLast().joined(separator: ", ")) and \(names.last ?? "")."
  }

  /// The one that was meant, if that can be told.
  private static func near(_ word: String) -> String? {
    let letters = Array(word.lowercased().prefix(40))
    let found = names.map { (name: $0, distance: Spelling.distance(letters, Array($0))) }.min {
      $0.distance < $1.distance
    }
    guard let found, found.distance <= max(1, found.name.count / 2 - 1) else { return nil }
    return found.name
  }
}
