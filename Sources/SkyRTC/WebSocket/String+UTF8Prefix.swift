extension String {
  /// As much of the text as fits into so many bytes of UTF-8, without cutting a character.
  package func prefix(utf8Bytes limit: Int) -> String {
    if utf8.count <= limit { return self }
    var kept = ""
    var bytes = 0
    for character in self {
      bytes += character.utf8.count
      if bytes > limit { break }
      kept.append(character)
    }
    return kept
  }
}
