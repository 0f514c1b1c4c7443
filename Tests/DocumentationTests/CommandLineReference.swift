import Foundation

/// The reference of the command line, as Markdown, made from what the program's own parser says of itself.
struct CommandLineReference {
  /// What `chatbot --experimental-dump-help` prints, as far as it is used here.
  private struct Dump: Decodable {
    let command: Command
  }

  private struct Command: Decodable {
    let commandName: String
    let abstract: String?
    let discussion: String?
    let arguments: [Argument]?
    let subcommands: [Command]?
    let shouldDisplay: Bool
  }

  private struct Argument: Decodable {
    struct Name: Decodable {
      let kind: String
      let name: String
    }

    let kind: String
    let names: [Name]?
    let preferredName: Name?
    let valueName: String?
    let defaultValue: String?
    let abstract: String?
    let sectionTitle: String?
    let isRepeating: Bool
    let shouldDisplay: Bool
  }

  private let root: Command

  init(dump: String) throws {
    root = try JSONDecoder().decode(Dump.self, from: Data(dump.utf8)).command
  }

  var markdown: String {
    var text = """
      # The command line

      This document answers which commands, options and exit codes `chatbot` has. It is made from the program's own
      parser: `make reference` writes it, and a test compares it.


      """
    if let abstract = root.abstract { text += Self.escaped(abstract) + "\n\n" }
    if let discussion = root.discussion { text += "```\n" + discussion + "\n```\n\n" }
    let commands = Self.leaves(below: root)
    text += commands.map { name, _ in
      "[\(root.commandName) \(name)](#\(root.commandName)-\(name.replacing(" ", with: "-")))"
    }.joined(separator: " · ")
    text += "\n"
    for (name, command) in commands { text += section(of: command, named: name) }
    return text
  }

  /// The commands that run, each with the names below that of the program.
  private static func leaves(below command: Command, path: [String] = []) -> [(name: String, command: Command)] {
    (command.subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" }.flatMap { sub in
      let names = path + [sub.commandName]
      return (sub.subcommands ?? []).isEmpty
        ? [(names.joined(separator: " "), sub)] : leaves(below: sub, path: names)
    }
  }

  private func section(of command: Command, named name: String) -> String {
    var text = "\n## \(root.commandName) \(name)\n\n"
    if let abstract = command.abstract { text += Self.escaped(abstract) + "\n\n" }
    if let discussion = command.discussion, !discussion.isEmpty { text += "```\n" + discussion + "\n```\n\n" }
    let arguments = (command.arguments ?? []).filter {
      $0.shouldDisplay && !["help", "version"].contains($0.preferredName?.name)
    }
    // One table for each group of options, in the order in which the program shows them.
    var titles: [String?] = []
    for argument in arguments where !titles.contains(argument.sectionTitle) { titles.append(argument.sectionTitle) }
    for (index, title) in titles.enumerated() {
      // A single table needs no heading besides that of the command.
      if titles != [nil] {
        let heading = title ?? (index == 0 ? "Options" : "Other options")
        text += "\(index == 0 ? "" : "\n")### \(name): \(heading)\n\n"
      }
      text += "| option | meaning |\n|---|---|\n"
      for argument in arguments where argument.sectionTitle == title { text += row(of: argument) }
    }
    return text
  }

  private func row(of argument: Argument) -> String {
    let names = (argument.names ?? []).map { ($0.kind == "short" ? "-" : "--") + $0.name }
    var name = names.joined(separator: ", ")
    if argument.kind == "positional" {
      name = "<\(argument.valueName ?? "value")>"
    } else if argument.kind == "option" {
      name += " <\(argument.valueName ?? "value")>"
    }
    if argument.isRepeating { name += "…" }
    var meaning = argument.abstract ?? ""
    if let value = argument.defaultValue, !value.isEmpty, !meaning.contains("(default:") {
      meaning += " (default: \(value))"
    }
    return "| `\(name.replacing("|", with: "\\|"))` | \(Self.escaped(meaning)) |\n"
  }

  /// Text for a cell of a table: without what Markdown would take for markup.
  private static func escaped(_ text: String) -> String {
    text.replacing("|", with: "\\|").replacing("<", with: "\\<").replacing("*", with: "\\*").replacing("\n", with: " ")
  }
}
