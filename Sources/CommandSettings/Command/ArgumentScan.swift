/// The arguments of a program, read by the description of its commands: which command they name, which of its options they give, and
/// what belongs to none. It does not judge values.
package struct ArgumentScan: Sendable, Hashable {
  /// An argument that gives an option of the command.
  package struct GivenOption: Sendable, Hashable {
    package var option: OptionDescription
    /// As written, without dashes.
    package var name: String
    /// nil for a flag, and where the value is missing.
    package var value: String?
  }

  /// A word, and its place among the arguments.
  package struct Word: Sendable, Hashable {
    package var text: String
    package var index: Int
  }

  /// The command that takes the options.
  package let command: CommandDescription
  /// Whether the first argument names the command, which is otherwise the default.
  package let namesCommand: Bool
  package private(set) var given: [GivenOption] = []
  /// Texts that begin with a dash and are no option of the command, without `=` and what follows.
  package private(set) var unknownOptions: [Word] = []
  /// Arguments that belong to no option.
  package private(set) var words: [Word] = []
  /// Whether help, the version or a completion script is asked for, so that the command does not run.
  package private(set) var asksParser = false

  /// Where options can be inserted before those that are given.
  package var firstOption: Int { namesCommand ? 1 : 0 }

  /// - Parameters:
  ///   - arguments: those of the program, without its name.
  ///   - root: the program. Without subcommands its own options are meant.
  package init(_ arguments: [String], of root: CommandDescription) {
    let named = arguments.first.flatMap { first in root.subcommands.first { $0.name == first } }
    command = named ?? root.subcommands.first { $0.name == root.defaultSubcommand } ?? root
    namesCommand = named != nil
    asksParser = command.name == "help"
    var index = firstOption
    while index < arguments.count {
      let text = arguments[index]
      index += 1
      if text == "--" {
        for position in index..<max(index, arguments.count) {
          words.append(Word(text: arguments[position], index: position))
        }
        return
      }
      if takesTheRest {
        // The rest is for another command.
      } else if text.hasPrefix("--") {
        readLong(text, at: index - 1, arguments, next: &index)
      } else if text.hasPrefix("-"), text != "-" {
        readShort(text, at: index - 1)
      } else {
        words.append(Word(text: text, index: index - 1))
      }
    }
  }

  private var takesTheRest: Bool {
    command.options.contains(where: \.takesTheRest)
      || command.subcommands.contains { $0.options.contains(where: \.takesTheRest) }
  }

  private mutating func readLong(_ text: String, at place: Int, _ arguments: [String], next index: inout Int) {
    let body = text.dropFirst(2)
    let name = String(body.prefix { $0 != "=" })
    if Self.parserFlags.contains(where: { name.hasPrefix($0) }) { asksParser = true }
    guard let option = command.option(named: name) else {
      if !asksParser { unknownOptions.append(Word(text: "--\(name)", index: place)) }
      return
    }
    var value: String?
    if option.kind == .option {
      if name.count < body.count {
        value = String(body.dropFirst(name.count + 1))
      } else if index < arguments.count,
        option.takesAnyWord || !arguments[index].hasPrefix("-") || arguments[index] == "-"
      {
        value = arguments[index]
        index += 1
      }
    }
    given.append(GivenOption(option: option, name: name, value: value))
  }

  private mutating func readShort(_ text: String, at place: Int) {
    if text == "-h" { asksParser = true }
    for letter in text.dropFirst() {
      if let option = command.options.first(where: { $0.shortNames.contains(String(letter)) }) {
        given.append(GivenOption(option: option, name: String(letter), value: nil))
      } else {
        unknownOptions.append(Word(text: text, index: place))
        return
      }
    }
  }

  /// Options of the parser that every command has.
  private static let parserFlags = [
    "help", "version", "generate-completion-script", "experimental-dump-help", "-completion",
  ]

  /// Whether an option, or one of those with other long names, was given.
  package func contains(_ option: OptionDescription, orOneOf others: Set<String> = []) -> Bool {
    given.contains { $0.option == option || !others.isDisjoint(with: $0.option.longNames) }
  }
}
