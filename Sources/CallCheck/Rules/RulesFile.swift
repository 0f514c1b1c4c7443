import Media

/// A file of rules in a small subset of YAML, which every YAML parser reads in the same way:
///
/// ```yaml
/// # what our release gate wants
/// expect:
///   - video.fps >= 24
///   - "audio.silence <= 1s"   # quotes may be left out
/// ```
///
/// The file is one list of texts, either under `expect:` or at the top level; the entry `default` adds the default
/// rules. Anything else is refused with its line number.
public enum RulesFile {
  /// The reason why a file was refused.
  public struct ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line number, starting at 1; nil if the error concerns the whole file.
    public let line: Int?
    public let reason: String

    public var description: String {
      line.map { "Line \($0) of the rules: \(reason)" } ?? reason
    }
  }

  /// The maximum size of a file in bytes.
  package static let maximumBytes = 100_000

  private static let maximumRunOutsideASCII = 1_000

  /// Parses every rule of a file, in order.
  public static func rules(of text: String) throws(ParseError) -> RuleList {
    if text.utf8.count > maximumBytes {
      throw ParseError(line: nil, reason: "The rules have more than \(maximumBytes) bytes.")
    }
    if text.utf8.hasRunOutsideASCII(over: maximumRunOutsideASCII) {
      throw ParseError(
        line: nil, reason: "The rules have more than \(maximumRunOutsideASCII) bytes in a row that are not ASCII.")
    }
    var rules = RuleList()
    var hasHeading = false
    var indentation: Int?
    // In Swift, the Windows line end is one character.
    let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    for (index, line) in lines.enumerated() {
      let number = index + 1
      func refused(_ reason: String) -> ParseError { ParseError(line: number, reason: reason) }
      var line = String(line)
      if number == 1, line.first == "\u{FEFF}" { line.removeFirst() }
      let spaces = line.prefix { $0 == " " }.count
      let content = withoutComment(String(line.dropFirst(spaces)))
      if content.isEmpty || (content == "---" && spaces == 0 && rules.isEmpty && !hasHeading) { continue }
      if content.hasPrefix("\t") { throw refused("indent with spaces, not with a tab.") }
      if content == "expect:" && spaces == 0 {
        if hasHeading || !rules.isEmpty { throw refused("expect: may appear only once, before all rules.") }
        hasHeading = true
        continue
      }
      guard content.hasPrefix("- ") || content == "-" else {
        throw refused("only a list under expect: is allowed, with each rule on its own line after \"- \".")
      }
      if spaces > 0 && !hasHeading || indentation.map({ $0 != spaces }) == true {
        throw refused("this rule is not indented like the rules before it.")
      }
      indentation = spaces
      do {
        try rules.add(try scalar(String(content.dropFirst(2)).trimmed, refused: refused))
      } catch let error as ParseError {
        throw error
      } catch {
        throw refused("\(error)")
      }
    }
    if rules.isEmpty { throw ParseError(line: nil, reason: "The file contains no rule.") }
    return rules
  }

  /// Returns the text before a comment: a # at the beginning or after a space, outside quotes.
  private static func withoutComment(_ text: String) -> String {
    var quote: Character?
    var before: Character = " "
    var kept = ""
    for character in text {
      if let open = quote {
        if character == open { quote = nil }
      } else if character == "#", before == " " || before == "\t" {
        break
      } else if character == "\"" || character == "'", before == " " {
        quote = character
      }
      kept.append(character)
      before = character
    }
    var trimmed = kept[...]
    while trimmed.last == " " || trimmed.last == "\t" { trimmed.removeLast() }
    return String(trimmed)
  }

  /// Returns the text of a list entry.
  private static func scalar(_ text: String, refused: (String) -> ParseError) throws(ParseError) -> String {
    guard let first = text.first else { throw refused("there is no rule after the dash.") }
    if first == "\"" || first == "'" {
      let inside = text.dropFirst().dropLast()
      guard text.count >= 2, text.last == first else { throw refused("the quote \(first) is not closed.") }
      if inside.contains(first) || inside.contains("\\") {
        throw refused("quotes and backslashes within quotes are not supported; a rule needs none.")
      }
      return String(inside)
    }
    if "[{&*!|>%@`-?:,]}".contains(first) { throw refused("a rule cannot begin with \(first).") }
    if text.contains(": ") || text.last == ":" { throw refused("a rule is one text, without a colon.") }
    return text
  }
}
