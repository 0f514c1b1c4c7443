import Media

/// The values of a command's options and where each comes from, as lines for people. They are a file of settings, with the defaults
/// as comments.
package struct SettingsTable: Sendable {
  private let settings: CommandSettings

  package init(_ settings: CommandSettings) {
    self.settings = settings
  }

  /// A line for each option that has a value, those that a file may only have in a section last; then the names of those that have
  /// none.
  package var lines: [String] {
    let given = settings.options.filter { $0.origin != .byDefault }
    let isOfSection = { (option: ResolvedOption) in settings.sectionKeys.contains(option.option.key) }
    let top = given.filter { !isOfSection($0) }.map { (setting: setting(of: $0), origin: $0.origin.description) }
    let section = given.filter(isOfSection).map {
      (setting: "  " + setting(of: $0), origin: $0.origin.description)
    }
    let defaults = settings.options.filter { $0.origin == .byDefault && !isOpposite($0) }.map { option in
      "# \(option.option.key): \(defaultText(of: option))"
    }
    let width = min((top + section).map(\.setting.count).max() ?? 0, 60)
    let row = { (setting: String, origin: String) in
      setting + String(repeating: " ", count: max(0, width - setting.count)) + "  # \(origin)"
    }
    let rows = top.map(row) + (section.isEmpty ? [] : ["\(settings.command.name):"]) + section.map(row)
    let unset = settings.unset.map(\.key).filter { key in
      !(key.hasPrefix("no-") && settings.command.option(named: Self.base(key)) != nil)
    }
    return rows + (defaults.isEmpty ? [] : ["# The defaults:"]) + defaults
      + (unset.isEmpty ? [] : ["# Without a value: \(unset.joined(separator: ", "))"])
  }

  /// The name without that which switches a flag off.
  private static func base(_ name: String) -> String { name.hasPrefix("no-") ? String(name.dropFirst(3)) : name }

  private func defaultText(of option: ResolvedOption) -> String {
    let value = option.values.joined()
    guard option.option.kind == .flag, value.hasPrefix("--") else { return value.printable(utf8Bytes: 300) }
    return value.hasPrefix("--no-") ? "false" : "true"
  }

  /// The default of the flag that switches another one off says nothing more than that of the other one.
  private func isOpposite(_ option: ResolvedOption) -> Bool {
    option.option.kind == .flag && option.name.hasPrefix("no-")
      && settings.command.option(named: Self.base(option.name)) != nil
  }

  /// The setting as a file has it, without secrets.
  private func setting(of option: ResolvedOption) -> String {
    let key = option.option.key
    if option.option.kind == .flag {
      return isOpposite(option) ? "\(Self.base(option.name)): false" : "\(option.name): true"
    }
    let isCommand = option.option.valueName == "command"
    let values = option.values.map { Self.shown(isCommand ? HiddenSecrets.ofCommand($0) : HiddenSecrets.of($0)) }
    return option.option.isRepeating && values.count != 1
      ? "\(key): [\(values.joined(separator: ", "))]" : "\(key): \(values.joined())"
  }

  /// In quotes, if a file needs them.
  private static func shown(_ value: String) -> String {
    let text = value.printable(utf8Bytes: 300)
    let needsQuotes =
      text.isEmpty || text.first.map { "|>&*!%@`{}[],?#\"'- ".contains($0) } == true || text.contains(": ")
      || text.contains(" #") || text.contains(",") || text.hasSuffix(":") || text.hasSuffix(" ")
    guard needsQuotes else { return text }
    return "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
  }
}

/// Values of options without the secrets that they may contain.
package enum HiddenSecrets {
  /// Replaces the password of a URL, what follows its question mark, and the arguments of a program that is an address.
  package static func of(_ value: String) -> String {
    if value.lowercased().hasPrefix("exec:") { return ofCommand(value) }
    var shown = value
    if let scheme = shown.firstRange(of: "://") {
      let end = shown[scheme.upperBound...].firstIndex { "/?#".contains($0) } ?? shown.endIndex
      if let at = shown[scheme.upperBound..<end].lastIndex(of: "@") {
        shown.replaceSubrange(scheme.upperBound..<at, with: "…")
      }
      if let query = shown.firstIndex(of: "?") { shown.replaceSubrange(shown.index(after: query)..., with: "…") }
    } else if let colon = shown.firstIndex(of: ":"), ["turn", "turns", "stun"].contains(shown[..<colon].lowercased()),
      let at = shown.lastIndex(of: "@")
    {
      shown.replaceSubrange(shown.index(after: colon)..<at, with: "…")
    }
    return shown
  }

  /// Replaces what follows the first word, which is the program: arguments may be secrets.
  package static func ofCommand(_ value: String) -> String {
    let words = value.split(maxSplits: 1, whereSeparator: \.isWhitespace)
    return words.count == 2 ? "\(words[0]) …" : value
  }
}
