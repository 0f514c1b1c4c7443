internal import JSON
internal import Media

/// Reads an object of a layout file. Each error says where it is.
struct LayoutFields {
  private let json: LocatedJSON

  init(_ json: LocatedJSON) {
    self.json = json
  }

  subscript(_ key: String) -> LocatedJSON? {
    get throws(LocatedJSON.Problem) { try members().first { $0.name == UntrustedText(key) }?.value }
  }

  /// Throws if the object has another key.
  func allow(_ keys: [String]) throws(LocatedJSON.Problem) {
    for member in try members() where !keys.contains(where: { UntrustedText($0) == member.name }) {
      let advice = Self.nearest(to: member.name, of: keys).map { "; do you mean \"\($0)\"?" } ?? "."
      throw .init(location: member.location, sentence: "\"\(member.name)\" is no key of a layout\(advice)")
    }
  }

  func problem(_ sentence: String) -> LocatedJSON.Problem { json.problem(sentence) }

  private func members() throws(LocatedJSON.Problem) -> [LocatedJSON.Member] {
    guard case .object(let members) = json.value else { throw json.problem("Expected an object in braces.") }
    return members
  }

  private static func nearest(to name: UntrustedText, of keys: [String]) -> String? {
    guard let written = name.ascii, written.utf8.count <= 20 else { return nil }
    let letters = Array(written.lowercased())
    let best = keys.map { (key: $0, edits: EditDistance.distance(letters, Array($0))) }.min { $0.edits < $1.edits }
    guard let best, best.edits <= max(1, letters.count / 3) else { return nil }
    return best.key
  }
}

extension LocatedJSON {
  func problem(_ sentence: String) -> Problem { Problem(location: location, sentence: sentence) }

  func integer(_ range: ClosedRange<Int>, _ key: String) throws(Problem) -> Int {
    guard case .number(let number) = value, let integer = Int(exactly: number), range.contains(integer) else {
      throw problem("\"\(key)\" is a whole number from \(range.lowerBound) to \(range.upperBound).")
    }
    return integer
  }

  func elements(_ range: ClosedRange<Int>, of key: String) throws(Problem) -> [LocatedJSON] {
    guard case .array(let elements) = value else { throw problem("\"\(key)\" is a list in brackets.") }
    guard range.contains(elements.count) else {
      let allowed = "\(range.lowerBound) to \(range.upperBound)"
      throw problem("\"\(key)\" has \(elements.count) entries; \(allowed) are allowed.")
    }
    return elements
  }

  func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ type: Choice.Type, _ key: String
  ) throws(Problem) -> Choice {
    if case .string(let text) = value, let choice = text.ascii.flatMap({ Choice(rawValue: $0) }) { return choice }
    let words = Choice.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
    throw problem("\"\(key)\" is one of \(words).")
  }
}
