/// The options of a command by their headings, without their explanations.
package struct OptionOverview: Sendable {
  private let command: CommandDescription
  private let columns: Int

  /// - Parameter columns: the width of the text.
  package init(_ command: CommandDescription, columns: Int = 78) {
    self.command = command
    self.columns = columns
  }

  /// For each heading a paragraph: the heading, and the options behind it, in lines of the width.
  ///
  /// - Parameter otherHeading: that of the options without one.
  package func text(otherHeading: String) -> String {
    let options = command.configurableOptions.filter { !$0.isHidden } + command.options.filter { $0.key == "config" }
    var sections: [String?] = []
    for option in options where !sections.contains(option.section) { sections.append(option.section) }
    let margin = (sections.map { ($0 ?? otherHeading).count }.max() ?? 0) + 4
    return sections.map { section in
      let title = section ?? otherHeading
      var lines: [String] = []
      var line = "  " + title + String(repeating: " ", count: margin - title.count - 2)
      for option in options where option.section == section && !isOpposite(option) {
        let text = synopsis(of: option)
        if line.count + text.count > columns, line.count > margin {
          lines.append(String(line.dropLast()))
          line = String(repeating: " ", count: margin)
        }
        line += text + " "
      }
      lines.append(String(line.dropLast()))
      return lines.joined(separator: "\n")
    }.joined(separator: "\n")
  }

  /// Whether an option is shown together with another one, as `--[no-]mdns`.
  private func isOpposite(_ option: OptionDescription) -> Bool {
    option.key.hasPrefix("no-") && option.opposite(in: command) != nil
  }

  private func synopsis(of option: OptionDescription) -> String {
    option.opposite(in: command) == nil ? option.synopsis : "--[no-]\(option.key)"
  }
}
