/// How much one word is like another, to tell what somebody may have meant.
package enum Spelling {
  /// How many letters must be changed, added or left out to make one text of the other (Levenshtein).
  package static func distance(_ one: [Character], _ other: [Character]) -> Int {
    var row = Array(0...other.count)
    for (index, character) in one.enumerated() {
      var corner = row[0]
      row[0] = index + 1
      for (place, opposite) in other.enumerated() {
        let changed = corner + (character == opposite ? 0 : 1)
        corner = row[place + 1]
        row[place + 1] = min(changed, corner + 1, row[place] + 1)
      }
    }
    return row[other.count]
  }
}
