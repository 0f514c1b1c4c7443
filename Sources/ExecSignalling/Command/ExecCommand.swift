/// A program and its arguments, as the address `exec:PROGRAM ARGS` names them. Pure.
///
/// There is no shell: words are separated by spaces, tabs and line ends, and nothing is expanded. Between single quotes every
/// character stands for itself; between double quotes a backslash stands before `"` or `\`; elsewhere a backslash stands before
/// any character. What follows each other without a space is one word.
public struct ExecCommand: Sendable, Hashable, CustomStringConvertible {
  /// The program, a path or a name that is looked up in `PATH`, and its arguments.
  public let words: [String]

  /// Why a text is not a command. Each description is one sentence.
  public enum ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    case noProgram
    case unclosedQuote(Character)
    case trailingBackslash
    case zeroCharacter

    public var description: String {
      switch self {
      case .noProgram: "The address exec: needs a program: exec:python3 adapter.py."
      case .unclosedQuote(let quote): "The address has a quote \(quote) that is not closed."
      case .trailingBackslash: "The address ends with a backslash, which must stand before a character."
      case .zeroCharacter: "The address has a character with the number 0, which no argument of a program can have."
      }
    }
  }

  private enum Quote {
    case none, single, double
  }

  /// - Parameter text: what follows `exec:` in the address.
  public init(_ text: String) throws(ParseError) {
    var words: [String] = []
    // Nil between words: two quotes with nothing between them are an empty word.
    var word: String.UnicodeScalarView?
    var quote = Quote.none
    var isEscaped = false
    func append(_ scalar: Unicode.Scalar) { word = (word ?? .init()) + [scalar] }
    for scalar in text.unicodeScalars {
      if scalar.value == 0 { throw .zeroCharacter }
      if isEscaped {
        isEscaped = false
        // Between double quotes, a backslash before another character stands for itself.
        if quote == .double, scalar != "\"", scalar != "\\" { append("\\") }
        append(scalar)
        continue
      }
      switch (quote, scalar) {
      case (.none, " "), (.none, "\t"), (.none, "\n"), (.none, "\r"):
        if let ended = word { words.append(String(ended)) }
        word = nil
      case (.none, "'"): (quote, word) = (.single, word ?? .init())
      case (.none, "\""): (quote, word) = (.double, word ?? .init())
      case (.single, "'"), (.double, "\""): quote = .none
      case (.none, "\\"), (.double, "\\"): isEscaped = true
      default: append(scalar)
      }
    }
    if isEscaped { throw .trailingBackslash }
    if quote != .none { throw .unclosedQuote(quote == .single ? "'" : "\"") }
    if let word { words.append(String(word)) }
    guard words.first?.isEmpty == false else { throw .noProgram }
    self.words = words
  }

  /// The program's file name, for sentences. The arguments may be secret.
  public var description: String {
    let program = words.first ?? ""
    return program.split(separator: "/").last.map(String.init) ?? program
  }
}
