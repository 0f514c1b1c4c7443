import Media

/// A file of rules. It is a small part of YAML, which every reader of YAML reads in the same way:
///
/// ```yaml
/// # what our release gate wants
/// expect:
///   - video.fps >= 24
///   - "audio.silence <= 1s"   # quotes may be skipped
/// ```
///
/// That is one list of texts, either under `expect:` or by itself; `default` among them brings the program's own rules in.
/// Anything else is refused with its line.
public enum RulesFile {
  /// Why a file was refused.
  public struct ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line, from 1; nil when the file as a whole is meant.
    public let line: Int?
    public let reason: String

    public var description: String {
      line.map { "Line \($0) of the rules: \(reason)" } ?? reason
    }
  }

  /// The longest file that is read, in characters.
  public static let longest = 100_000

  private static let maximumRunOutsideASCII = 1_000

  /// Reads every rule of a file, in order.
  public static func rules(of text: String) throws(ParseError) -> RuleList {
    if text.utf8.count > longest { throw ParseError(line: nil, reason: "The rules have more than \(longest) bytes.") }
    if text.utf8.hasRunOutsideASCII(over: maximumRunOutsideASCII) {
      throw ParseError(
        line: nil, reason: "More than \(maximumRunOutsideASCII) bytes of the rules in a row are not ASCII.")
    }
    var rules = RuleList()
    var hasHeading = false
    var indentation: Int?
    // In Swift the line end of Windows is one character.
    let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    for (index, line) in lines.enumerated() {
      let number = index + 1
      func refused(_ reason: String) -> ParseError { ParseError(line: number, reason: reason) }
      var line = String(line)
      if number == 1, line.first == "\u{FEFF}" { line.removeFirst() }
      let spaces = line.prefix { $0 == " " }.count
      let content = withoutComment(String(line.dropFirst(spaces)))
      if content.isEmpty || (content == "---" && spaces == 0 && rules.isEmpty && !hasHeading) { continue }
      if content.hasPrefix("\t") { throw refused("a tab cannot indent; use spaces.") }
      if content == "expect:" && spaces == 0 {
        if hasHeading || !rules.isEmpty { throw refused("expect: can stand only once, before all rules.") }
        hasHeading = true
        continue
      }
      guard content.hasPrefix("- ") || content == "-" else {
        throw refused("only a list under expect: is understood, each rule on its own line behind \"- \".")
      }
      if spaces > 0 && !hasHeading || indentation.map({ $0 != spaces }) == true {
        throw refused("this rule is not indented like those before it.")
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
    if rules.isEmpty { throw ParseError(line: nil, reason: "The file has no rule in it.") }
    return rules
  }

  /// What stands before a comment: a # at the beginning or behind a space, outside quotes.
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

  /// The text of a list's entry.
  private static func scalar(_ text: String, refused: (String) -> ParseError) throws(ParseError) -> String {
    guard let first = text.first else { throw refused("there is no rule behind the dash.") }
    if first == "\"" || first == "'" {
      let inside = text.dropFirst().dropLast()
      guard text.count >= 2, text.last == first else { throw refused("the quote \(first) is not closed.") }
      if inside.contains(first) || inside.contains("\\") {
        throw refused("quotes and backslashes within quotes are not understood; a rule needs none.")
      }
      return String(inside)
    }
    if "[{&*!|>%@`-?:,]}".contains(first) { throw refused("a rule cannot begin with \(first).") }
    if text.contains(": ") || text.last == ":" { throw refused("a rule is one text, without a colon.") }
    return text
  }
}
