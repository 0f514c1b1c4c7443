/// The credentials of TURN servers in a file.
package enum UserAndPassword {
  /// Returns the user and the password: from two lines, or from one with a colon between them.
  ///
  /// In one line the user ends at the first colon. Only a user name with a time (draft-uberti-behave-turn-rest-00), such as
  /// `1893456000:bot`, has a colon of its own, and its password, the base64 text of a hash, has none: it ends at the last.
  package static func parse(_ text: String) -> (user: String, password: String)? {
    let lines = text.split(whereSeparator: \.isNewline)
      .map { String($0.trimmingPrefix(while: \.isWhitespace)) }.map(Self.withoutTrailingSpace).filter { !$0.isEmpty }
    if lines.count == 2 { return (lines[0], lines[1]) }
    guard lines.count == 1, let line = lines.first, !line.contains(where: \.isWhitespace) else { return nil }
    let fields = line.split(separator: ":", omittingEmptySubsequences: false)
    let hasTime = fields.dropLast().contains { field in
      (9...12).contains(field.utf8.count)
        && field.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
    guard let colon = hasTime ? line.lastIndex(of: ":") : line.firstIndex(of: ":") else { return nil }
    let (user, password) = (String(line[..<colon]), String(line[line.index(after: colon)...]))
    return user.isEmpty || password.isEmpty ? nil : (user, password)
  }

  private static func withoutTrailingSpace(_ line: String) -> String {
    var line = line
    while line.last?.isWhitespace == true { line.removeLast() }
    return line
  }
}
