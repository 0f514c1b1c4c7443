import Media

/// A file with values of options: the part of YAML that lists of keys and values need.
///
/// ```yaml
/// # for every command that has the option
/// server: wss://calls.example
/// ice-server:
///   - stun:stun.example
///   - "turn:turn.example"
/// call:
///   record: out/
///   loopback: false
/// ```
///
/// Keys are the long names of options. A value is a plain or quoted text on one line, or a list of them, in lines with `- ` or in
/// brackets. A section has the name of a command, and its lines are indented. Everything else of YAML is refused with its line.
package struct SettingsFile: Sendable, Hashable {
  package struct Text: Sendable, Hashable {
    package var text: String
    /// The first line is 1.
    package var line: Int
  }

  package enum Value: Sendable, Hashable {
    case text(Text)
    case list([Text])
  }

  package struct Entry: Sendable, Hashable {
    /// The command of the section; nil above all sections.
    package var section: String?
    package var key: String
    package var value: Value
    package var line: Int
  }

  /// Why a text is no such file.
  package struct ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    package var line: Int
    /// A sentence.
    package var reason: String

    package var description: String { "line \(line): \(reason)" }
  }

  package private(set) var entries: [Entry] = []

  /// The maximum size of a file in bytes.
  package static let maximumBytes = 1 << 20

  package init(_ text: String, sections: Set<String>) throws(ParseError) {
    var reader = Reader(text, sections: sections)
    entries = try reader.read()
  }
}

/// Reads the lines of a file.
private struct Reader {
  typealias Text = SettingsFile.Text

  struct Line {
    var number: Int
    var indentation: Int
    /// Without indentation, comment and spaces at the end.
    var text: String
  }

  struct Key: Hashable {
    var section: String?
    var name: String
  }

  private let lines: [Line]
  private let sections: Set<String>
  private var index = 0
  private var entries: [SettingsFile.Entry] = []
  /// The lines of the keys.
  private var keyLines: [Key: Int] = [:]
  /// The first line that cannot be read at all.
  private let problem: SettingsFile.ParseError?

  init(_ text: String, sections: Set<String>) {
    self.sections = sections
    var lines: [Line] = []
    var problem = Self.controlCharacter(in: text)
    let body = text.hasPrefix("\u{FEFF}") ? text.dropFirst() : text[...]
    for (offset, raw) in body.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      let number = offset + 1
      let indentation = raw.prefix { $0 == " " }.count
      let content = Self.withoutComment(raw.dropFirst(indentation))
      if content.isEmpty || number == 1 && content == "---" { continue }
      if content.hasPrefix("\t") {
        problem = problem ?? .init(line: number, reason: "Lines are indented by spaces, not by tabs.")
      }
      lines.append(Line(number: number, indentation: indentation, text: content))
    }
    self.lines = lines
    self.problem = problem
  }

  /// Returns the error of the first control character that YAML does not allow; nil if there is none.
  private static func controlCharacter(in text: String) -> SettingsFile.ParseError? {
    let isControl = { (scalar: Unicode.Scalar) in scalar.value < 0x20 && !"\t\n\r".unicodeScalars.contains(scalar) }
    guard let index = text.unicodeScalars.firstIndex(where: isControl) else { return nil }
    let code = String(text.unicodeScalars[index].value, radix: 16, uppercase: true)
    return .init(
      line: 1 + text[..<index].count(where: \.isNewline),
      reason: "The control character U+\(String(repeating: "0", count: 4 - code.count))\(code) is not allowed here.")
  }

  /// Removes a comment, which begins at `#` after a space or at the beginning, outside of quotes, and the spaces before it.
  private static func withoutComment(_ text: Substring) -> String {
    var quote: Character?
    var isEscaped = false
    var before: Character = " "
    // What is before the spaces: quotes only count at the beginning of a value.
    var mark: Character = ":"
    var end = text.endIndex
    for index in text.indices {
      let character = text[index]
      if let open = quote {
        // The second `'` of `''` opens the quotes again.
        if character == open, !isEscaped { quote = nil }
        isEscaped = open == "\"" && character == "\\" && !isEscaped
      } else if character == "#", before.isWhitespace {
        end = index
        break
      } else if character == "\"" || character == "'", ":-[,".contains(mark) || character == "'" && before == "'" {
        quote = character
        isEscaped = false
      }
      before = character
      if !character.isWhitespace { mark = character }
    }
    var result = String(text[..<end])
    while result.last?.isWhitespace == true { result.removeLast() }
    return result
  }

  mutating func read() throws(SettingsFile.ParseError) -> [SettingsFile.Entry] {
    if let problem { throw problem }
    while index < lines.count {
      let line = lines[index]
      guard line.indentation == 0 else {
        throw error(line, "This line is indented, but nothing above it has a section.")
      }
      let (key, rest) = try keyAndRest(of: line)
      index += 1
      // A command may have an option of its own name, whose values are a list.
      if sections.contains(key), rest.isEmpty, !isItem(index, below: line) {
        try readSection(key, from: line)
      } else {
        try add(key, rest, of: line, in: nil)
      }
    }
    return entries
  }

  private mutating func readSection(_ name: String, from start: Line) throws(SettingsFile.ParseError) {
    let depth = index < lines.count ? lines[index].indentation : 0
    while index < lines.count, lines[index].indentation > 0 {
      let line = lines[index]
      guard line.indentation == depth else {
        throw error(
          line, "The lines of the section \(name) are indented by \(depth) spaces, this one by \(line.indentation).")
      }
      let (key, rest) = try keyAndRest(of: line)
      index += 1
      try add(key, rest, of: line, in: name)
    }
  }

  private mutating func add(
    _ key: String, _ rest: String, of line: Line, in section: String?
  ) throws(SettingsFile.ParseError) {
    if let earlier = keyLines.updateValue(line.number, forKey: Key(section: section, name: key)) {
      throw error(line, "\(shown(key)) is already in line \(earlier).")
    }
    let value: SettingsFile.Value
    if rest.isEmpty {
      let items = try list(below: line)
      if items.isEmpty, section == nil, index < lines.count, lines[index].indentation > 0 {
        let near = NearestName.of(key, among: sections.sorted()).map { "; did you mean \($0)?" } ?? "."
        throw error(line, "There is no command \(shown(key))\(near)")
      }
      if items.isEmpty { throw error(line, "\(shown(key)) has no value.") }
      value = .list(items)
    } else if rest.hasPrefix("[") {
      value = .list(try flowList(rest, line))
    } else {
      value = .text(Text(text: try scalar(rest, line), line: line.number))
    }
    entries.append(.init(section: section, key: key, value: value, line: line.number))
  }

  /// The lines with `- ` that follow a key; YAML allows them without further indentation.
  private mutating func list(below key: Line) throws(SettingsFile.ParseError) -> [Text] {
    var items: [Text] = []
    while isItem(index, below: key) {
      let line = lines[index]
      index += 1
      let rest = String(line.text.dropFirst().drop { $0 == " " })
      if rest.isEmpty { throw error(line, "This item of the list is empty.") }
      items.append(Text(text: try scalar(rest, line), line: line.number))
    }
    return items
  }

  /// Whether a line is an item of a list that belongs to the key.
  private func isItem(_ index: Int, below key: Line) -> Bool {
    guard index < lines.count, lines[index].indentation >= key.indentation else { return false }
    return lines[index].text == "-" || lines[index].text.hasPrefix("- ")
  }

  private func keyAndRest(of line: Line) throws(SettingsFile.ParseError) -> (key: String, rest: String) {
    let text = line.text
    let key = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
    let after = text.dropFirst(key.count)
    guard !key.isEmpty, !key.hasPrefix("-"), after.first == ":", after.count == 1 || after.dropFirst().first == " "
    else {
      throw error(
        line, "A line is “key: value”, where the key is the long name of an option, but this is “\(shown(text))”.")
    }
    return (String(key), String(after.dropFirst().drop { $0 == " " }))
  }

  // MARK: Values

  private func scalar(_ text: String, _ line: Line) throws(SettingsFile.ParseError) -> String {
    if let quote = text.first, quote == "\"" || quote == "'" {
      let (result, following) = try quoted(text[...], line)
      guard following.isEmpty else {
        throw error(line, "Nothing may follow the quotes, but here is “\(shown(String(following)))”.")
      }
      return result
    }
    if let first = text.first, "|>&*!%@`{}[],?".contains(first) {
      let what =
        switch first {
        case "|", ">": "Texts of several lines"
        case "&", "*": "Anchors"
        case "!": "Tags"
        case "{", "}": "Maps in braces"
        default: "Values that begin with “\(first)”"
        }
      throw error(line, "\(what) are not supported here; put the value into quotes if it is a text.")
    }
    if ["~", "null", "Null", "NULL"].contains(text) {
      throw error(line, "\(text) is no value in YAML; leave the line out, or put it into quotes.")
    }
    if text == "-" || text.hasPrefix("- ") || text.contains(": ") || text.hasSuffix(":") {
      throw error(line, "YAML would not read “\(shown(text))” as a text; put it into quotes.")
    }
    return text
  }

  /// Reads a text in quotes, and returns what follows them.
  private func quoted(
    _ text: Substring, _ line: Line
  ) throws(SettingsFile.ParseError) -> (text: String, following: Substring) {
    let quote = text.first ?? "\""
    var result = ""
    var position = text.index(after: text.startIndex)
    while position < text.endIndex {
      let character = text[position]
      position = text.index(after: position)
      if character == quote {
        if quote == "'", position < text.endIndex, text[position] == "'" {
          result.append("'")
          position = text.index(after: position)
          continue
        }
        return (result, text[position...].drop { $0 == " " })
      }
      if character == "\\", quote == "\"" {
        guard position < text.endIndex else { break }
        switch text[position] {
        case "n": result.append("\n")
        case "t": result.append("\t")
        case "\"", "\\", "/": result.append(text[position])
        default: throw error(line, "In double quotes only \\n, \\t, \\\" and \\\\ may follow a backslash.")
        }
        position = text.index(after: position)
        continue
      }
      result.append(character)
    }
    throw error(line, "The quotes are not closed.")
  }

  private func flowList(_ text: String, _ line: Line) throws(SettingsFile.ParseError) -> [Text] {
    var items: [Text] = []
    var rest = text.dropFirst().drop { $0 == " " }
    while true {
      if rest.first == "]" {
        let following = rest.dropFirst().drop { $0 == " " }
        if !following.isEmpty { throw error(line, "Nothing may follow the list.") }
        return items
      }
      var item: String
      if let quote = rest.first, quote == "\"" || quote == "'" {
        (item, rest) = try quoted(rest, line)
      } else {
        let plain = rest.prefix { $0 != "," && $0 != "]" }
        rest = rest.dropFirst(plain.count)
        item = String(plain)
        while item.last == " " { item.removeLast() }
        if item.isEmpty { throw error(line, "An item of the list is empty, or the list is not closed in its line.") }
        item = try scalar(item, line)
      }
      items.append(Text(text: item, line: line.number))
      switch rest.first {
      case ",": rest = rest.dropFirst().drop { $0 == " " }
      case "]": continue
      default: throw error(line, "The list is not closed in its line.")
      }
    }
  }

  private func shown(_ text: String) -> String { text.printable(utf8Bytes: 60) }

  private func error(_ line: Line, _ reason: String) -> SettingsFile.ParseError {
    SettingsFile.ParseError(line: line.number, reason: reason)
  }
}
