import JSON

/// A command of a program and its options, as swift-argument-parser describes them (`--experimental-dump-help`).
package struct CommandDescription: Sendable, Hashable {
  package var name: String
  /// One sentence, and further paragraphs; empty if there are none.
  package var abstract: String
  package var discussion: String
  /// In the order of the help.
  package var options: [OptionDescription]
  package var subcommands: [CommandDescription]
  /// The subcommand that is meant if none is named.
  package var defaultSubcommand: String?
  package var isHidden: Bool

  package init(
    name: String, abstract: String = "", discussion: String = "", options: [OptionDescription] = [],
    subcommands: [CommandDescription] = [], defaultSubcommand: String? = nil, isHidden: Bool = false
  ) {
    self.name = name
    self.abstract = abstract
    self.discussion = discussion
    self.options = options
    self.subcommands = subcommands
    self.defaultSubcommand = defaultSubcommand
    self.isHidden = isHidden
  }

  /// Reads the JSON of a program's `--experimental-dump-help`.
  ///
  /// - Throws: `JSONReader.Problem` if it is of another form.
  package init(dump: String) throws {
    self.init(try JSONReader.decode(Dump.self, from: dump, within: JSONLimits(depth: 32)).command)
  }

  /// The option with a long name, without dashes.
  package func option(named name: String) -> OptionDescription? {
    options.first { $0.longNames.contains(name) }
  }

  /// The options that configuration can set: those with a long name, besides the parser's own.
  package var configurableOptions: [OptionDescription] {
    options.filter { $0.kind != .positional && !$0.longNames.isEmpty && !Self.parserOptions.contains($0.longNames[0]) }
  }

  /// The parser's own options, and that which names the file.
  private static let parserOptions: Set<String> = ["help", "version", "config"]

  /// The subcommands that have options of their own, besides the parser's `help`.
  package var configurableCommands: [CommandDescription] {
    subcommands.filter { !$0.isHidden && $0.name != "help" && !$0.configurableOptions.isEmpty }
  }
}

/// An option, a flag or a positional argument of a command.
package struct OptionDescription: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable, Decodable {
    case positional, option, flag
  }

  package var kind: Kind
  /// Without dashes.
  package var longNames: [String]
  package var shortNames: [String]
  /// What the help says of it; empty if it says nothing.
  package var abstract = ""
  /// What stands for the value in the help.
  package var valueName: String
  /// The text of the default value; nil if there is none.
  package var defaultValue: String?
  /// The heading in the help, or nil.
  package var section: String?
  package var isRepeating: Bool
  package var isHidden: Bool
  /// Whether the next word is the value, even if it begins with a dash.
  package var takesAnyWord: Bool
  /// Whether it takes all further words, also options.
  package var takesTheRest: Bool

  package init(
    _ kind: Kind, _ longNames: String..., short shortNames: [String] = [], valueName: String = "value",
    defaultValue: String? = nil, section: String? = nil, isRepeating: Bool = false, isHidden: Bool = false,
    takesAnyWord: Bool = false, takesTheRest: Bool = false
  ) {
    self.kind = kind
    self.longNames = longNames
    self.shortNames = shortNames
    self.valueName = valueName
    self.defaultValue = defaultValue
    self.section = section
    self.isRepeating = isRepeating
    self.isHidden = isHidden
    self.takesAnyWord = takesAnyWord
    self.takesTheRest = takesTheRest
  }

  /// The first long name, which is the key in a file; empty for a positional argument.
  package var key: String { longNames.first ?? "" }

  /// The option as the help shows it: `--record <folder>`.
  package var synopsis: String {
    let name = longNames.first.map { "--\($0)" } ?? shortNames.first.map { "-\($0)" } ?? ""
    return kind == .option ? "\(name) <\(valueName)>" : name
  }
}

/// What the parser prints, as far as it is used here.
private struct Dump: Decodable {
  struct Command: Decodable {
    var commandName: String
    var abstract: String?
    var discussion: String?
    var arguments: [Argument]?
    var subcommands: [Command]?
    var defaultSubcommand: String?
    var shouldDisplay: Bool?
  }

  struct Argument: Decodable {
    struct Name: Decodable {
      var kind: String
      var name: String
    }

    var kind: OptionDescription.Kind
    var names: [Name]?
    var preferredName: Name?
    var valueName: String?
    var defaultValue: String?
    var abstract: String?
    var sectionTitle: String?
    var isRepeating: Bool
    var shouldDisplay: Bool
    var parsingStrategy: String
  }

  var command: Command
}

extension CommandDescription {
  fileprivate init(_ command: Dump.Command) {
    self.init(
      name: command.commandName, abstract: command.abstract ?? "", discussion: command.discussion ?? "",
      options: (command.arguments ?? []).map(OptionDescription.init),
      subcommands: (command.subcommands ?? []).map(CommandDescription.init),
      defaultSubcommand: command.defaultSubcommand, isHidden: command.shouldDisplay == false)
  }
}

extension OptionDescription {
  fileprivate init(_ argument: Dump.Argument) {
    self.init(argument.kind)
    // The name that the parser prefers is the key.
    let names = argument.names ?? []
    longNames = names.filter { $0.kind == "long" }.map(\.name)
    if let preferred = argument.preferredName, preferred.kind == "long" {
      longNames.removeAll { $0 == preferred.name }
      longNames.insert(preferred.name, at: 0)
    }
    shortNames = names.filter { $0.kind == "short" }.map(\.name)
    abstract = argument.abstract ?? ""
    valueName = argument.valueName ?? "value"
    defaultValue = argument.defaultValue ?? Self.defaultValue(in: argument.abstract ?? "")
    section = argument.sectionTitle
    isRepeating = argument.isRepeating
    isHidden = !argument.shouldDisplay
    takesAnyWord = argument.parsingStrategy == "unconditional"
    takesTheRest = ["allRemainingInput", "allUnrecognized", "postTerminator"].contains(argument.parsingStrategy)
  }

  /// The text behind `(default: ` in a help text.
  private static func defaultValue(in text: String) -> String? {
    guard let start = text.firstRange(of: "(default: ")?.upperBound,
      let end = text[start...].lastIndex(of: ")")
    else { return nil }
    return String(text[start..<end])
  }
}
