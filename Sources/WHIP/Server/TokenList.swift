import FoundationEssentials

/// The tokens that a server accepts. Pure, except for reading the file. No description contains a token.
package struct TokenList: Sendable, CustomStringConvertible, CustomReflectable {
  /// The result of comparing the `Authorization` header of a request.
  package enum Match: Sendable, Hashable {
    /// No token is required.
    case open
    /// The header is absent or has another scheme.
    case missing
    case wrong
    /// The index of the token.
    case token(Int)
  }

  private let tokens: [[UInt8]]

  /// - Parameter tokens: without any, every request is authorized.
  package init(_ tokens: [BearerToken] = []) {
    self.tokens = tokens.map { Array($0.secret.utf8) }
  }

  /// Reads a file with one token on each line; empty lines and those that begin with `#` are ignored. Blocks while it
  /// reads. A file without a token is an error, so that an empty one does not open the server.
  package static func tokens(in file: String) throws(BearerToken.ParseError) -> [BearerToken] {
    guard let data = try? Data(contentsOf: URL(filePath: file)) else { throw .unreadable(file: file) }
    var tokens: [BearerToken] = []
    for line in String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline) {
      if line.hasPrefix("#") || line.allSatisfy(\.isWhitespace) { continue }
      tokens.append(try BearerToken(String(line)))
    }
    if tokens.isEmpty { throw .empty }
    return tokens
  }

  package var isEmpty: Bool { tokens.isEmpty }

  /// Compares the value of an `Authorization` header (RFC 6750, 2.1). The time depends on the lengths only.
  package func match(_ header: String?) -> Match {
    if tokens.isEmpty { return .open }
    guard let header, header.utf8.count <= BearerToken.maximumBytes + 16 else { return .missing }
    let words = header.split(separator: " ", maxSplits: 1)
    guard words.count == 2, words[0].lowercased() == "bearer" else { return .missing }
    let given = Array(words[1].utf8)
    var found: Int?
    for (index, token) in tokens.enumerated() where Self.areEqual(token, given) { found = found ?? index }
    return found.map(Match.token) ?? .wrong
  }

  private static func areEqual(_ token: [UInt8], _ given: [UInt8]) -> Bool {
    guard !token.isEmpty else { return false }
    var difference: UInt8 = token.count == given.count ? 0 : 1
    for (index, byte) in given.enumerated() { difference |= byte ^ token[index % token.count] }
    return difference == 0
  }

  package var description: String { "\(tokens.count) tokens" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
