/// A user and a password for TURN servers, as a file has them.
package struct UserAndPassword: Sendable, Hashable {
  package let user: String
  package let password: String

  /// Reads two lines, or one with a colon between both; nil for another text.
  ///
  /// In one line the user ends at the first colon. Only a user name with a time (draft-uberti-behave-turn-rest-00), such as
  /// `1893456000:bot`, has a colon of its own, and its password, the base64 text of a hash, has none: it ends at the last.
  package init?(_ text: String) {
    let lines = text.split(whereSeparator: \.isNewline)
      .map { Self.withoutTrailingSpace(String($0.trimmingPrefix(while: \.isWhitespace))) }.filter { !$0.isEmpty }
    if lines.count == 2 {
      (user, password) = (lines[0], lines[1])
      return
    }
    guard lines.count == 1, let line = lines.first, !line.contains(where: \.isWhitespace) else { return nil }
    let fields = line.split(separator: ":", omittingEmptySubsequences: false)
    let hasTime = fields.dropLast().contains { field in
      (9...12).contains(field.utf8.count)
        && field.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
    guard let colon = hasTime ? line.lastIndex(of: ":") : line.firstIndex(of: ":") else { return nil }
    (user, password) = (String(line[..<colon]), String(line[line.index(after: colon)...]))
    if user.isEmpty || password.isEmpty { return nil }
  }

  private static func withoutTrailingSpace(_ line: String) -> String {
    var line = line
    while line.last?.isWhitespace == true { line.removeLast() }
    return line
  }
}
