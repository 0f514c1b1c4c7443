import Media

/// The values of a command's options: from the command line, else from environment variables, else from a file.
///
/// The variable of an option is `CHATBOT_` and its long name in capitals, with underscores: `CHATBOT_ICE_SERVER`. The values of a
/// repeatable option are on a line each. A flag is `true` or `false`.
package struct CommandSettings: Sendable, Hashable {
  /// What the program knows of itself.
  package struct Program: Sendable, Hashable {
    package var root: CommandDescription
    /// What variables begin with.
    package var prefix: String
    /// Variables with that beginning which are no options: secrets, and what other programs read.
    package var reserved: Set<String>
    /// Long names of flags of which only one may be given.
    package var exclusive: [Set<String>]

    package init(
      root: CommandDescription, prefix: String = "CHATBOT_", reserved: Set<String> = [], exclusive: [Set<String>] = []
    ) {
      self.root = root
      self.prefix = prefix
      self.reserved = reserved
      self.exclusive = exclusive
    }
  }

  /// The command that the arguments name.
  package let command: CommandDescription
  /// The options that have a value, in the order of the help.
  package private(set) var options: [ResolvedOption] = []
  /// Sentences about variables that are ignored.
  package private(set) var warnings: [String] = []
  /// The keys of the command's options that a file may only have in a section, because they are of another kind in other commands.
  package private(set) var sectionKeys: Set<String> = []
  /// The options that have no value, and of flags that exclude each other none has one.
  package private(set) var unset: [OptionDescription] = []
  /// The arguments with what variables and file add.
  package private(set) var arguments: [String]

  /// - Parameters:
  ///   - arguments: those of the program, without its name.
  ///   - read: returns the text of the file that `--config` or its variable names.
  package init(
    _ arguments: [String], of program: Program, environment: [String: String],
    read: (String) throws -> String
  ) throws {
    let scan = ArgumentScan(arguments, of: program.root)
    command = scan.command
    self.arguments = arguments
    if scan.asksParser || scan.command.configurableOptions.isEmpty { return }
    sectionKeys = Set(command.configurableOptions.map(\.key).filter { program.kinds(of: $0) != nil })
    let variables = Variables(environment, of: program, command: command)
    warnings = variables.warnings
    let path = scan.given.last { $0.option.key == "config" }?.value ?? variables.value(of: "config")
    var file: FileValues?
    if let path, command.option(named: "config") != nil {
      file = try FileValues(try read(path), path: path, of: program, command: command)
    }
    for option in command.configurableOptions {
      let others = program.exclusiveFlags(of: option, in: command)
      if let given = scan.given.last(where: { $0.option == option }) {
        let values = scan.given.filter { $0.option == option }.compactMap(\.value)
        options.append(
          ResolvedOption(option: option, name: given.name, values: values, origin: .commandLine))
      } else if !scan.contains(option, orOneOf: others) {
        let excluding = command.configurableOptions.filter { !others.isDisjoint(with: $0.longNames) }
        if let value = try Self.value(of: option, excluding, variables, file) { options.append(value) }
      }
    }
    let added = options.filter { $0.origin != .commandLine }.flatMap(\.arguments)
    self.arguments.insert(contentsOf: added, at: scan.firstOption)
    for option in withoutValue(program) where option.defaultValue != nil {
      options.append(
        ResolvedOption(
          option: option, name: option.key, values: option.defaultValue.map { [$0] } ?? [], origin: .byDefault))
    }
    unset = withoutValue(program)
  }

  /// The value by the preferred source that has the option, or switches on a flag that excludes it: a variable, else the command's
  /// section of the file, else the lines above all sections.
  ///
  /// - Parameter others: the flags that exclude the option.
  private static func value(
    of option: OptionDescription, _ others: [OptionDescription], _ variables: Variables, _ file: FileValues?
  ) throws(SettingsError) -> ResolvedOption? {
    if let setting = try variables.setting(option) { return setting.value }
    for other in others where try variables.setting(other)?.value != nil { return nil }
    guard let file else { return nil }
    for place in FileValues.Place.allCases {
      if let setting = try file.setting(option, place) { return setting.value }
      for other in others where try file.setting(other, place)?.value != nil { return nil }
    }
    return nil
  }

  private func withoutValue(_ program: Program) -> [OptionDescription] {
    command.configurableOptions.filter { option in
      !options.contains { $0.option == option }
        && program.exclusiveFlags(of: option, in: command).isDisjoint(with: options.map(\.option.key))
    }
  }

  /// The sentences about the options that an error message names and that are not from the command line.
  package func origins(namedIn message: String) -> [String] {
    options.compactMap { resolved in
      switch resolved.origin {
      case .commandLine, .byDefault: return nil
      case .environment, .file: break
      }
      guard Self.names(resolved.option, in: message) else { return nil }
      var sentence = "--\(resolved.name) is from \(resolved.origin)"
      if case .environment = resolved.origin, resolved.option.isRepeating,
        resolved.values.contains(where: { $0.contains(",") })
      {
        sentence += ", which has one value on each line"
      }
      return sentence + "."
    }
  }

  private static func names(_ option: OptionDescription, in message: String) -> Bool {
    option.longNames.contains { name in
      message.ranges(of: "--\(name)").contains { range in
        let next = message[range.upperBound...].first
        return next.map { !$0.isLetter && !$0.isNumber && $0 != "-" } ?? true
      }
    }
  }
}

extension CommandSettings.Program {
  /// The long names of flags that exclude a flag: its opposite, and others of its group.
  func exclusiveFlags(of option: OptionDescription, in command: CommandDescription) -> Set<String> {
    guard option.kind == .flag else { return [] }
    var names = Set(exclusive.filter { !$0.isDisjoint(with: option.longNames) }.flatMap(\.self))
    names.formUnion(option.longNames.map { $0.hasPrefix("no-") ? String($0.dropFirst(3)) : "no-\($0)" })
    names.subtract(option.longNames)
    return names.filter { command.option(named: $0)?.kind == .flag }
  }

  /// A clause that says what a long name is, if it is a flag of some commands and has a value in others; otherwise nil.
  func kinds(of name: String) -> String? {
    var flags: [String] = []
    var others: [String] = []
    var value = ""
    for command in root.configurableCommands {
      switch command.configurableOptions.first(where: { $0.longNames.contains(name) }) {
      case let option? where option.kind == .flag: flags.append(command.name)
      case let option?:
        others.append(command.name)
        value = String(option.valueName.prefix { $0 != "|" })
      case nil: continue
      }
    }
    if flags.isEmpty || others.isEmpty { return nil }
    return "\(name) is a \(value) in \(UsageAdvice.list(others)), and a flag in \(UsageAdvice.list(flags))"
  }

  /// The name of the variable of a long name.
  package func variable(of name: String) -> String {
    prefix + name.uppercased().replacing("-", with: "_")
  }
}

extension OptionDescription {
  /// Reads the value of a variable or a file.
  func setting(
    _ values: [String], origin: OptionOrigin, key: String, opposite: String?
  ) throws(SettingsError) -> OptionSetting {
    guard kind == .flag else {
      guard isRepeating || values.count == 1 else {
        throw SettingsError("\(key) has one value, not \(values.count) (\(origin)).")
      }
      return OptionSetting(value: ResolvedOption(option: self, name: key, values: values, origin: origin))
    }
    switch values {
    case ["true"]: return OptionSetting(value: ResolvedOption(option: self, name: key, values: [], origin: origin))
    case ["false"]:
      return OptionSetting(
        value: opposite.map { ResolvedOption(option: self, name: $0, values: [], origin: origin) })
    default:
      let shown = DisplayText.plain(values.first ?? "", longest: 40)
      throw SettingsError("\(key) is true or false, not “\(shown)” (\(origin)).")
    }
  }

  /// The flag that switches this one off, of a command that has it.
  func opposite(in command: CommandDescription) -> String? {
    let name = key.hasPrefix("no-") ? String(key.dropFirst(3)) : "no-\(key)"
    return command.option(named: name)?.kind == .flag ? name : nil
  }
}
