import Media

/// The environment variables of a program's options.
struct Variables {
  private let program: CommandSettings.Program
  private let command: CommandDescription
  /// Values by the variables' names.
  private let values: [String: String]
  /// Sentences about variables that belong to no option.
  let warnings: [String]

  init(_ environment: [String: String], of program: CommandSettings.Program, command: CommandDescription) {
    self.program = program
    self.command = command
    let own = environment.filter { $0.key.hasPrefix(program.prefix) && !program.reserved.contains($0.key) }
    let names = program.root.subcommands.flatMap(\.configurableOptions).flatMap(\.longNames) + ["config"]
    let known = Set(names.map(program.variable)).subtracting(program.reserved)
    // Kubernetes sets these for a service named like the program.
    let others = own.filter { !Self.isServiceLink($0.key.dropFirst(program.prefix.count), value: $0.value) }
    values = others.filter { known.contains($0.key) }
    warnings = others.keys.filter { !known.contains($0) }.sorted().map { name in
      let shown = DisplayText.plain(name, longest: 60)
      let near = NearestName.of(
        String(name.dropFirst(program.prefix.count)),
        among: known.sorted().map { String($0.dropFirst(program.prefix.count)) })
      let hint = near.map { "; did you mean \(program.prefix)\($0)?" } ?? "."
      return "No option has the variable \(shown), which is ignored\(hint)"
    }
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
