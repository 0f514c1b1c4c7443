package import Media

/// Which tiles are shown, and where.
package enum LayoutChoice: Sendable, Hashable {
  /// All tiles in equal size, a shared screen in twice the width and height.
  case grid
  /// Who speaks is large, up to five others are in a column at the right.
  case speaker
  /// As `speaker`, with one user who stays large, by name or id.
  case presenter(UntrustedText)
  /// All tiles beside each other.
  case row
  /// One user alone, by name or id.
  case only(UntrustedText)
  case regions(LayoutFile)

  /// Returns why the layout does not fit the call: nobody has the name that it wants.
  ///
  /// - Parameter tiles: all tiles of the call.
  package func problem(for tiles: [LayoutTile]) -> String? {
    switch self {
    case .grid, .speaker, .row, .regions: return nil
    case .presenter(let name), .only(let name):
      if tiles.contains(where: { $0.names.contains(name) }) { return nil }
      return "The layout wants \"\(name)\", but no user of the call has this name or id."
    }
  }
}

/// A layout as written on the command line.
package enum LayoutArgument: Sendable, Hashable {
  case choice(LayoutChoice)
  /// The path of a file for `LayoutFile`.
  case file(String)

  /// Parses `grid`, `speaker`, `presenter:NAME`, `row`, `only:NAME`, or a path: it has a slash or ends in `.json`.
  package init(_ text: String) throws(ParseError) {
    switch text {
    case "grid": self = .choice(.grid)
    case "speaker": self = .choice(.speaker)
    case "row": self = .choice(.row)
    case "presenter", "presenter:": throw .noName("presenter:")
    case "only", "only:": throw .noName("only:")
    default:
      if let name = Self.rest(of: text, after: "presenter:") {
        self = .choice(.presenter(UntrustedText(name)))
      } else if let name = Self.rest(of: text, after: "only:") {
        self = .choice(.only(UntrustedText(name)))
      } else if text.utf8.contains(UInt8(ascii: "/")) || text.hasSuffix(".json") {
        self = .file(text)
      } else {
        throw .unknown(UntrustedText(text))
      }
    }
  }

  private static func rest(of text: String, after prefix: String) -> String? {
    text.utf8.starts(with: prefix.utf8) ? String(text.utf8.dropFirst(prefix.utf8.count)) : nil
  }

  /// Why a text is not a layout.
  package enum ParseError: Error, Hashable, CustomStringConvertible {
    case noName(String)
    case unknown(UntrustedText)

    package var description: String {
      switch self {
      case .noName(let word): "A name or an id must follow, like \(word)Ann."
      case .unknown(let text):
        "\"\(text)\" is no layout: use grid, speaker, presenter:NAME, row, only:NAME, or the path of a JSON file."
      }
    }
  }
}
