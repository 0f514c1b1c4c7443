import Media

/// The environment variables of a program's options.
struct Variables {
  private let program: CommandSettings.Program
  private let command: CommandDescription
  /// Values by the variables' names.
  private let values: [String: String]
  /// Sentences about variables that are ignored.
  let warnings: [String]

  init(_ environment: [String: String], of program: CommandSettings.Program, command: CommandDescription) {
    self.program = program
    self.command = command
    let own = environment.filter { $0.key.hasPrefix(program.prefix) && !program.reserved.contains($0.key) }
    let names = program.root.subcommands.flatMap(\.configurableOptions).flatMap(\.longNames) + ["config"]
    let known = Set(names.map(program.variable)).subtracting(program.reserved)
    // Kubernetes sets these for a service named like the program.
    let others = own.filter { !Self.isServiceLink($0.key.dropFirst(program.prefix.count), value: $0.value) }
    let ofOtherCommands = Self.flagsOfOtherKind(in: others, program, command)
    values = others.filter { known.contains($0.key) && ofOtherCommands[$0.key] == nil }
    warnings =
      ofOtherCommands.sorted { $0.key < $1.key }.map(\.value)
      + others.keys.filter { !known.contains($0) }.sorted().map { name in
        let shown = DisplayText.plain(name, longest: 60)
        let near = NearestName.of(
          String(name.dropFirst(program.prefix.count)),
          among: known.sorted().map { String($0.dropFirst(program.prefix.count)) })
        let hint = near.map { "; did you mean \(program.prefix)\($0)?" } ?? "."
        return "No option has the variable \(shown), which is ignored\(hint)"
      }
  }

  /// The variables of the command's flags whose text is for other commands, in which the name has a value.
  ///
  /// - Returns: a sentence about each, by the variables' names.
  private static func flagsOfOtherKind(
    in environment: [String: String], _ program: CommandSettings.Program, _ command: CommandDescription
  ) -> [String: String] {
    var sentences: [String: String] = [:]
    for name in command.configurableOptions.filter({ $0.kind == .flag }).flatMap(\.longNames) {
      let variable = program.variable(of: name)
      guard let text = environment[variable], !["", "true", "false"].contains(text), let kinds = program.kinds(of: name)
      else { continue }
      sentences[variable] = "\(variable) is neither true nor false, and is ignored: \(kinds)."
    }
    return sentences
  }

  private static func isServiceLink(_ name: Substring, value: String) -> Bool {
    name == "SERVICE_HOST" || name.hasPrefix("SERVICE_PORT") || name.hasPrefix("PORT_")
      || name == "PORT" && (value.hasPrefix("tcp://") || value.hasPrefix("udp://"))
  }

  /// The text of the variable of a long name; nil if it is not set. A variable without text counts as not set.
  func value(of name: String) -> String? {
    values[program.variable(of: name)].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// What the option's variable says; nil if it is not set.
  func setting(_ option: OptionDescription) throws(SettingsError) -> OptionSetting? {
    guard let name = option.longNames.first(where: { value(of: $0) != nil }), let text = value(of: name) else {
      return nil
    }
    let lines = option.isRepeating ? text.split(whereSeparator: \.isNewline).map(String.init) : [text]
    let variable = program.variable(of: name)
    return try option.setting(
      lines, origin: .environment(variable), key: name, opposite: option.opposite(in: command))
  }
}
