import CallCheck

/// Escapes text that may come from the network for GitHub Flavored Markdown, in a line of text or in the cell of a table.
enum MarkdownText {
  /// Returns one line that is shown as it is: it begins no markup, no HTML, no link, no mention and no formula, and ends no cell.
  ///
  /// - Parameter limit: the maximum length before escaping, in Unicode scalars.
  static func escaped(_ text: String, limit: Int = 120) -> String {
    var result = String.UnicodeScalarView()
    let line = Array(ReportText.line(text, limit: limit).unicodeScalars)
    for (index, scalar) in line.enumerated() {
      switch scalar {
      case "&": result.append(contentsOf: "&amp;".unicodeScalars)
      case "<": result.append(contentsOf: "&lt;".unicodeScalars)
      case ">": result.append(contentsOf: "&gt;".unicodeScalars)
      case "\\", "`", "*", "_", "[", "]", "~", "|":
        result.append("\\")
        result.append(scalar)
      // GitHub makes links, mentions, references and formulas of text after the parsing of Markdown, so that a backslash prevents nothing.
      // They do not cross an element.
      case "@", "$", "#": result.append(contentsOf: "<span>\(scalar)</span>".unicodeScalars)
      case ":" where line[(index + 1)...].starts(with: "//".unicodeScalars):
        result.append(contentsOf: "<span>:</span>".unicodeScalars)
      case "." where index >= 3 && line[(index - 3)..<index].allSatisfy({ $0 == "w" || $0 == "W" }):
        result.append(contentsOf: "<span>.</span>".unicodeScalars)
      default: result.append(scalar)
      }
    }
    return String(result)
  }
}

/// Markdown in pieces, up to a number of bytes.
struct BoundedMarkdown {
  private(set) var text = ""
  private var left: Int

  /// - Parameter limit: the maximum size, in bytes.
  init(limit: Int) { left = max(0, limit) }

  /// Adds a piece if there is room for it.
  ///
  /// - Returns: Whether it was added. If not, no later piece is added either.
  @discardableResult
  mutating func add(_ piece: String) -> Bool {
    let count = piece.utf8.count
    guard count <= left else {
      left = 0
      return false
    }
    left -= count
    text += piece
    return true
  }
}
