/// What the tests need of a Markdown document: its links, its headings and its blocks of commands.
struct MarkdownDocument {
  /// A fenced block of code.
  struct Block: Equatable {
    /// The words behind the fence, the language first: `sh runnable`.
    var info: [String]
    var line: Int
    var text: String
  }

  private(set) var links: [(line: Int, target: String)] = []
  private(set) var anchors: Set<String> = []
  private(set) var blocks: [Block] = []

  init(_ text: String) {
    var open: Block?
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let trimmed = line.drop { $0 == " " }
      if trimmed.hasPrefix("```") {
        if let block = open {
          blocks.append(block)
          open = nil
        } else {
          let info = trimmed.drop { $0 == "`" }.split(separator: " ").map(String.init)
          open = Block(info: info, line: index + 1, text: "")
        }
        continue
      }
      if open != nil {
        open?.text += line + "\n"
        continue
      }
      if line.hasPrefix("#") { add(heading: String(line.drop { $0 == "#" }.drop { $0 == " " })) }
      readLinks(of: String(line), number: index + 1)
    }
  }

  /// The anchor that GitHub gives a heading: small letters, hyphens for spaces, without punctuation.
  private mutating func add(heading: String) {
    let anchor = String(
      heading.lowercased().compactMap { character -> Character? in
        if character == " " { return "-" }
        return character.isLetter || character.isNumber || character == "-" || character == "_" ? character : nil
      })
    var unique = anchor
    var count = 0
    while anchors.contains(unique) {
      count += 1
      unique = "\(anchor)-\(count)"
    }
    anchors.insert(unique)
  }

  private mutating func readLinks(of line: String, number: Int) {
    // What stands in code is no link.
    let parts = line.split(separator: "`", omittingEmptySubsequences: false)
    let plain = parts.enumerated().map { $0.offset % 2 == 0 ? String($0.element) : "code" }.joined()
    var rest = plain[...]
    while let start = rest.firstRange(of: "](") {
      rest = rest[start.upperBound...]
      guard let end = rest.firstIndex(of: ")") else { return }
      links.append((number, String(rest[..<end])))
      rest = rest[end...]
    }
  }
}
