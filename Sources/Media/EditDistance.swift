/// The similarity of two words, for suggestions.
package enum EditDistance {
  /// Returns how many letters must be changed, added, removed or exchanged with their neighbour to turn one text into the other
  /// (optimal string alignment).
  package static func distance(_ one: [Character], _ other: [Character]) -> Int {
    var previous: [Int] = []
    var row = Array(0...other.count)
    for (index, character) in one.enumerated() {
      var next = [index + 1]
      for (position, opposite) in other.enumerated() {
        let changed = row[position] + (character == opposite ? 0 : 1)
        var least = min(changed, next[position] + 1, row[position + 1] + 1)
        if index > 0, position > 0, character == other[position - 1], one[index - 1] == opposite {
          least = min(least, previous[position - 1] + 1)
        }
        next.append(least)
      }
      previous = row
      row = next
    }
    return row[other.count]
  }
}
