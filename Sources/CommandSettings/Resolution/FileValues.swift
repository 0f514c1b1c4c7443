import Media

/// The values of a file for one command: those of its section, else those above all sections.
struct FileValues {
  /// Where a key is: the preferred place is first.
  enum Place: CaseIterable {
    case section, top
  }

  private let command: CommandDescription
  private let path: String
  private let entries: [SettingsFile.Entry]

  /// - Throws: ``SettingsError`` for a line that cannot be read, for a key that no command has, and for one above all sections
  ///   that is a flag in some commands and has a value in others.
  init(
    _ text: String, path: String, of program: CommandSettings.Program, command: CommandDescription
  ) throws(SettingsError) {
    self.command = command
    self.path = path
    let commands = program.root.configurableCommands
    do throws(SettingsFile.ParseError) {
      entries = try SettingsFile(text, sections: Set(commands.map(\.name))).entries
    } catch {
      throw SettingsError("\(path), \(error)")
    }
    for entry in entries {
      try Self.check(entry, path: path, commands: commands)
      if entry.section == nil, let kinds = program.kinds(of: entry.key) {
        throw SettingsError("\(path), line \(entry.line): \(kinds); put it into a section.")
      }
    }
  }

  private static func check(
    _ entry: SettingsFile.Entry, path: String, commands: [CommandDescription]
  ) throws(SettingsError) {
    let place = "\(path), line \(entry.line): "
    let key = DisplayText.plain(entry.key, longest: 40)
    let owners = commands.filter { command in
      command.configurableOptions.contains { $0.longNames.contains(entry.key) }
    }
    if entry.key == "config" { throw SettingsError(place + "A file cannot name another file with config.") }
    guard let section = entry.section else {
      if !owners.isEmpty { return }
      let names = commands.flatMap(\.configurableOptions).flatMap(\.longNames) + commands.map(\.name)
      let hint = NearestName.of(entry.key, among: names).map { "; did you mean \($0)?" } ?? "."
      if commands.contains(where: { $0.name == entry.key }) {
        throw SettingsError(place + "\(key) is a section, so its keys are on further lines, indented.")
      }
      throw SettingsError(place + "No command has an option \(key)\(hint)")
    }
    if owners.contains(where: { $0.name == section }) { return }
    let names = commands.first { $0.name == section }?.configurableOptions.flatMap(\.longNames) ?? []
    if !owners.isEmpty {
      let list = owners.map(\.name).joined(separator: ", ")
      throw SettingsError(place + "chatbot \(section) has no option \(key); these have it: \(list).")
    }
    let hint = NearestName.of(entry.key, among: names).map { "; did you mean \($0)?" } ?? "."
    throw SettingsError(place + "chatbot \(section) has no option \(key)\(hint)")
  }

  /// What the file says of the option at a place; nil if it does not have it there.
  func setting(_ option: OptionDescription, _ place: Place) throws(SettingsError) -> OptionSetting? {
    let section = place == .section ? command.name : nil
    guard let entry = entries.first(where: { $0.section == section && option.longNames.contains($0.key) }) else {
      return nil
    }
    let texts =
      switch entry.value {
      case .text(let text): [text.text]
      case .list(let texts): texts.map(\.text)
      }
    return try option.setting(
      texts, origin: .file(path, line: entry.line), key: entry.key, opposite: option.opposite(in: command))
  }
}
