import Media

/// The sentence for arguments that no command has: which option or command was probably meant.
package struct UsageAdvice: Sendable {
  private let root: CommandDescription
  private let arguments: [String]
  private let scan: ArgumentScan

  /// - Parameter arguments: those of the program, without its name.
  package init(_ arguments: [String], of root: CommandDescription) {
    self.root = root
    self.arguments = arguments
    scan = ArgumentScan(arguments, of: root)
  }

  /// The command whose usage helps.
  package var command: String { scan.command.name }

  /// The sentence about the first argument that belongs to nothing; nil if each belongs to something.
  package var sentence: String? {
    let option = scan.unknownOptions.first
    // A command with positional arguments takes every word.
    let word = scan.command.options.contains { $0.kind == .positional } ? nil : scan.words.first
    switch (option, word) {
    case (let option?, let word?): return option.index < word.index ? advice(for: option) : advice(for: word)
    case (let option?, nil): return advice(for: option)
    case (nil, let word?): return adviceForWord(word)
    case (nil, nil): return nil
    }
  }

  private func advice(for word: ArgumentScan.Word) -> String {
    word.text.hasPrefix("-") && word.text != "-" ? adviceForOption(word.text) : adviceForWord(word)
  }

  // MARK: Options

  private func adviceForOption(_ text: String) -> String {
    let shown = DisplayText.plain(text, longest: 40)
    guard text.hasPrefix("--") else { return adviceForLetter(text, shown) }
    let name = String(text.dropFirst(2))
    let others = root.subcommands.filter { !$0.isHidden && $0.option(named: name)?.isHidden == false }.map(\.name)
    if !others.isEmpty {
      return "chatbot \(command) has no option \(shown); \(Self.list(others)) \(others.count == 1 ? "has" : "have") it."
    }
    if let near = nearestOption(to: name) { return "There is no option \(shown); did you mean --\(near)?" }
    return "There is no option \(shown); chatbot help \(command) lists the options."
  }

  /// Only a few options have a name of one letter.
  private func adviceForLetter(_ text: String, _ shown: String) -> String {
    let letters = String(text.dropFirst())
    // People write long names with one dash.
    if letters.count > 1, let near = nearestOption(to: letters) {
      return "There is no option \(shown); did you mean --\(near)?"
    }
    let names = Self.names(of: scan.command).filter { $0.hasPrefix(letters.prefix(1)) }
    if names.isEmpty || letters.count > 1 {
      return "There is no option \(shown); chatbot help \(command) lists the options."
    }
    let verb = names.count == 1 ? "begins" : "begin"
    return "There is no option \(shown); \(Self.list(names.map { "--\($0)" })) \(verb) with that letter."
  }

  /// The long name that was probably meant; nil if none is similar enough.
  private func nearestOption(to name: String) -> String? {
    NearestName.of(name, among: Self.names(of: scan.command))
  }

  private static func names(of command: CommandDescription) -> [String] {
    command.options.filter { !$0.isHidden }.flatMap(\.longNames)
  }

  // MARK: Words

  private func adviceForWord(_ word: ArgumentScan.Word) -> String {
    // It was meant as the value of the word before it.
    if word.index > 0, let option = scan.unknownOptions.first(where: { $0.index == word.index - 1 }) {
      return adviceForOption(option.text)
    }
    let shown = DisplayText.plain(word.text, longest: 40)
    let isFirst = word.index == 0
    let beginning = isFirst ? "There is no command “\(shown)”" : "“\(shown)” belongs to no option"
    if let option = option(meantBy: word) { return "\(beginning); did you mean \(option)?" }
    let commands = root.subcommands.filter { !$0.isHidden }.map(\.name)
    if isFirst {
      if let near = NearestName.of(word.text, among: commands) { return "\(beginning); did you mean \(near)?" }
      return "\(beginning); there are \(Self.list(commands.filter { $0 != "help" }))."
    }
    return "\(beginning); chatbot help \(command) lists the options."
  }

  /// The option of the command whose name the word is, or nearly is, with the value that follows; for an address that of the server.
  private func option(meantBy word: ArgumentScan.Word) -> String? {
    if word.text.contains("://"), let server = scan.command.option(named: "server") {
      return "--\(server.key) \(DisplayText.plain(word.text, longest: 80))"
    }
    // Rooms often have numbers as their names.
    if word.text.allSatisfy(\.isNumber), let room = scan.command.option(named: "room") {
      return "--\(room.key) \(DisplayText.plain(word.text, longest: 80))"
    }
    let commands = root.subcommands.filter { !$0.isHidden }.map(\.name)
    let names = Self.names(of: scan.command)
    let isFirst = word.index == 0
    guard
      let name = names.first(where: { $0 == word.text.lowercased() })
        ?? NearestName.of(word.text, among: names + (isFirst ? commands : [])),
      let option = scan.command.option(named: name), names.contains(name)
    else { return nil }
    guard option.kind == .option else { return "--\(name)" }
    let next = arguments.indices.contains(word.index + 1) ? arguments[word.index + 1] : nil
    guard let next, !next.hasPrefix("-") || next == "-" else { return "--\(name) <\(option.valueName)>" }
    return "--\(name) \(DisplayText.plain(next, longest: 80))"
  }

  /// Names in a sentence: “check, inspect and load”.
  static func list(_ names: [String]) -> String {
    names.count < 2 ? names.first ?? "" : names.dropLast().joined(separator: ", ") + " and " + (names.last ?? "")
  }
}

/// The name that was probably meant by a misspelt one.
package enum NearestName {
  /// Returns the name with the fewest different letters, of at most a third of the written ones; otherwise the only name that begins
  /// with what was written.
  package static func of(_ written: String, among names: [String]) -> String? {
    let letters = Array(written.lowercased().prefix(60))
    let nearest = names.map { (name: $0, distance: EditDistance.distance(letters, Array($0.lowercased()))) }
      .min { $0.distance < $1.distance }
    if let nearest, nearest.distance <= max(1, letters.count / 3), nearest.distance < letters.count {
      return nearest.name
    }
    guard letters.count >= 3 else { return nil }
    let longer = names.filter { $0.lowercased().hasPrefix(String(letters)) }
    return longer.count == 1 ? longer[0] : nil
  }
}
