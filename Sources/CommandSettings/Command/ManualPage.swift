/// The manual page of a program, in the macros of man(7): its commands with all of their options.
package struct ManualPage: Sendable {
  /// A section below the commands.
  package struct Section: Sendable, Hashable {
    package var title: String
    /// Lines as they are to be shown.
    package var text: String

    package init(title: String, text: String) {
      self.title = title
      self.text = text
    }
  }

  private let root: CommandDescription
  private let version: String
  private let sections: [Section]

  package init(_ root: CommandDescription, version: String, sections: [Section] = []) {
    self.root = root
    self.version = version
    self.sections = sections
  }

  /// The text of the page.
  package var text: String {
    var lines = [
      ".TH \(Self.quoted(root.name.uppercased())) 1 \"\" \(Self.quoted("\(root.name) \(version)")) \"User Commands\"",
      ".SH NAME", "\(Self.escaped(root.name)) \\- \(Self.escaped(Self.withoutStop(root.abstract)))", ".SH SYNOPSIS",
    ]
    for (path, command) in commands {
      let positional = command.options.filter { $0.kind == .positional && !$0.isHidden }
      let words = positional.map { " \\fI\(Self.escaped($0.valueName))\\fR" + ($0.isRepeating ? " …" : "") }.joined()
      let isDefault = path.count == 2 && command.name == root.defaultSubcommand
      let name = path.dropFirst().joined(separator: " ")
      lines += [
        "\\fB\(Self.escaped(root.name))\\fR \(isDefault ? "[" : "")\\fB\(Self.escaped(name))\\fR\(isDefault ? "]" : "") "
          + "[\\fIoptions\\fR]" + words, ".br",
      ]
    }
    if lines.last == ".br" { lines.removeLast() }
    lines += [".SH DESCRIPTION", Self.escaped(root.abstract)]
    for (path, command) in commands { lines += description(of: command, path: path) }
    for section in sections {
      lines += [".SH \(Self.quoted(section.title.uppercased()))"] + Self.verbatim(section.text)
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The commands that run, each with the names that lead to it.
  private var commands: [(path: [String], command: CommandDescription)] {
    Self.commands(below: root, path: [root.name])
  }

  private static func commands(
    below command: CommandDescription, path: [String]
  ) -> [(path: [String], command: CommandDescription)] {
    command.subcommands.filter { !$0.isHidden && $0.name != "help" }.flatMap { sub in
      let path = path + [sub.name]
      return sub.subcommands.isEmpty ? [(path, sub)] : commands(below: sub, path: path)
    }
  }

  private func description(of command: CommandDescription, path: [String]) -> [String] {
    var lines = [".SH \(Self.quoted(path.joined(separator: " ").uppercased()))", Self.escaped(command.abstract)]
    if !command.discussion.isEmpty { lines += [".PP"] + Self.verbatim(command.discussion) }
    let options = command.options.filter { !$0.isHidden && $0.key != "version" }
    var titles: [String?] = []
    for option in options where !titles.contains(option.section) { titles.append(option.section) }
    for title in titles {
      if titles.count > 1 { lines.append(".SS \(Self.quoted(title ?? "Options"))") }
      for option in options where option.section == title {
        lines += [
          ".TP", Self.tag(of: option), Self.escaped(option.abstract.isEmpty ? "Shows the help." : option.abstract),
        ]
        if let value = option.defaultValue, !option.abstract.contains("(default:"), option.kind == .option {
          lines.append("(default: \(Self.escaped(value)))")
        }
      }
    }
    return lines
  }

  private static func tag(of option: OptionDescription) -> String {
    if option.kind == .positional { return "\\fI\(escaped(option.valueName))\\fR" }
    let names = option.shortNames.map { "-\($0)" } + option.longNames.map { "--\($0)" }
    let value = option.kind == .option ? " \\fI\(escaped(option.valueName))\\fR" : ""
    return names.map { "\\fB\(escaped($0))\\fR" }.joined(separator: ", ") + value
  }

  // MARK: Text of roff

  private static func verbatim(_ text: String) -> [String] {
    [".nf"] + text.split(separator: "\n", omittingEmptySubsequences: false).map { escaped(String($0)) } + [".fi"]
  }

  /// Escapes what roff would take for requests, and keeps hyphens as they are typed.
  private static func escaped(_ text: String) -> String {
    let line = text.replacing("\n", with: " ").replacing("\\", with: "\\e").replacing("-", with: "\\-")
    return line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line
  }

  private static func quoted(_ text: String) -> String { "\"\(escaped(text).replacing("\"", with: "\\(dq"))\"" }

  private static func withoutStop(_ text: String) -> String { text.hasSuffix(".") ? String(text.dropLast()) : text }
}
