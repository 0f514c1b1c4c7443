/// Finds the measurements that somebody may have meant.
enum NameSuggestions {
  /// How many are told.
  private static let most = 5

  /// The names of the catalogue near `name`, the nearest first: those that differ by few letters, and those that share words.
  static func of(_ name: String) -> [String] {
    let wanted = words(of: name)
    let written = Array(name.lowercased())
    let known = Measurement.catalogue.flatMap { [$0.name] + $0.aliases }
    let scored = known.compactMap { candidate -> (name: String, distance: Int)? in
      let edits = EditDistance.distance(written, Array(candidate.lowercased()))
      let shared = words(of: candidate).count { word in
        wanted.contains { $0 == word || (min($0.count, word.count) >= 3 && ($0.hasPrefix(word) || word.hasPrefix($0))) }
      }
      let isNear = edits <= max(2, written.count / 3)
      guard isNear || shared > 0 else { return nil }
      return (candidate, edits - 4 * shared)
    }
    return scored.enumerated()
      .sorted { ($0.element.distance, $0.offset) < ($1.element.distance, $1.offset) }
      .prefix(most).map(\.element.name)
  }

  /// The words of a name: `video.firstFrame` has video, first and frame.
  private static func words(of name: String) -> Set<String> {
    var words: Set<String> = []
    var word = ""
    for character in name {
      if !character.isLetter && !character.isNumber || character.isUppercase {
        words.insert(word)
        word = ""
      }
      if character.isLetter || character.isNumber { word += character.lowercased() }
    }
    words.insert(word)
    words.remove("")
    return words
  }
}

/// How much one word is like another, to say what somebody may have meant.
package enum EditDistance {
  /// How many letters must be changed, added or skipped to make one text of the other (Levenshtein).
  package static func distance(_ one: [Character], _ other: [Character]) -> Int {
    var row = Array(0...other.count)
    for (index, character) in one.enumerated() {
      var corner = row[0]
      row[0] = index + 1
      for (position, opposite) in other.enumerated() {
        let changed = corner + (character == opposite ? 0 : 1)
        corner = row[position + 1]
        row[position + 1] = min(changed, corner + 1, row[position] + 1)
      }
    }
    return row[other.count]
  }
}
