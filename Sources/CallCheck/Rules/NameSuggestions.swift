import Media

/// Suggests measurements for a misspelt name.
enum NameSuggestions {
  /// The maximum number of suggestions.
  private static let maximumCount = 5

  /// Returns the names of the catalogue that are similar to `name`, the most similar first: names that differ by a few
  /// letters, and names that share words.
  ///
  /// - Parameter number: the number of a stream that was written before the name. It is before each suggestion as well, and
  ///   only what is measured for each stream is suggested.
  static func of(_ name: String, ofStream number: String? = nil) -> [String] {
    let wanted = words(of: name)
    let written = Array(name.lowercased())
    let known = Measurement.catalogue.filter { number == nil || $0.isOfStream }.flatMap { [$0.name] + $0.aliases }
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
      .prefix(maximumCount).map { (number.map { $0 + "." } ?? "") + $0.element.name }
  }

  /// Splits a name into words: `video.firstFrame` has video, first and frame.
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
