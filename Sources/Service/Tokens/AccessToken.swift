import Media

/// What the owner of a token may do. Each role may do what those before it may.
package enum TokenRole: String, Sendable, Hashable, CaseIterable, Comparable {
  /// Sees jobs, events, live figures, logs and recordings of the project.
  case viewer
  /// Submits, stops, pauses and resumes jobs.
  case `operator`
  /// Deletes recordings.
  case admin

  private var rank: Int {
    switch self {
    case .viewer: 0
    case .operator: 1
    case .admin: 2
    }
  }

  package static func < (one: Self, other: Self) -> Bool { one.rank < other.rank }
}

/// A token that the service accepts: its digest, not its text.
package struct AccessToken: Sendable, Hashable {
  /// Who has it, for logs: 1 to 64 ASCII letters, digits, `-`, `_` and `.`, as the project.
  package var name: String
  package var role: TokenRole
  package var project: String
  package var digest: SHA256Digest

  package init(name: String, role: TokenRole, project: String, digest: SHA256Digest) {
    self.name = name
    self.role = role
    self.project = project
    self.digest = digest
  }

  /// The line of a file of tokens.
  package var line: String { "\(name) \(role.rawValue) \(project) sha256:\(digest.hexadecimal)" }

  /// The minimum length of a token's text: 22 letters of base64 have 128 bits.
  package static let minimumBytes = 22
  package static let maximumBytes = 512

  package static func isName(_ text: some StringProtocol) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
          || "-_.".utf8.contains($0)
      }
  }

  /// Returns a new token of 256 random bits, in letters and digits.
  package static func randomText() -> String {
    var source = SystemRandomNumberGenerator()
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    // 43 of 62 letters have 256 bits.
    let text = (0..<43).map { _ in letters[Int.random(in: 0..<letters.count, using: &source)] }
    return "cbs_" + String(decoding: text, as: UTF8.self)
  }
}

/// The tokens of a file. Pure.
package struct AccessTokenList: Sendable, Hashable {
  package private(set) var tokens: [AccessToken] = []

  package static let maximumFileBytes = 1 << 20

  package struct ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The first line is 1.
    package var line: Int
    package var sentence: String

    package var description: String { "line \(line): \(sentence)" }
  }

  package init() {}

  /// Reads lines `name role project sha256:HEX`. Empty lines and those that begin with `#` are ignored.
  package init(_ text: String) throws(ParseError) {
    var names = Set<String>()
    // By bytes: a carriage return and a line feed are one character.
    for (index, bytes) in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
    {
      let line = String(decoding: bytes, as: UTF8.self)
      let words = line.split { $0 == " " || $0 == "\t" || $0 == "\r" }
      guard let first = words.first, first.utf8.first != UInt8(ascii: "#") else { continue }
      let number = index + 1
      guard words.count == 4 else {
        throw ParseError(line: number, sentence: "A line has four words: name, role, project and sha256:HEX.")
      }
      guard AccessToken.isName(words[0]), AccessToken.isName(words[2]) else {
        throw ParseError(
          line: number, sentence: "A name and a project have 1 to 64 letters, digits, “-”, “_” and “.” of ASCII.")
      }
      guard let role = TokenRole(rawValue: String(words[1])) else {
        throw ParseError(line: number, sentence: "A role is viewer, operator or admin.")
      }
      guard words[3].utf8.starts(with: "sha256:".utf8),
        let digest = SHA256Digest(hexadecimal: words[3].dropFirst("sha256:".count))
      else { throw ParseError(line: number, sentence: "A digest is “sha256:” and 64 hexadecimal digits.") }
      guard names.insert(String(words[0])).inserted else {
        throw ParseError(line: number, sentence: "The name “\(words[0])” is used before.")
      }
      tokens.append(AccessToken(name: String(words[0]), role: role, project: String(words[2]), digest: digest))
    }
  }

  /// Returns the token with this text. The time does not depend on which token it is, or how much of it is right.
  package func token(withText text: String) -> AccessToken? {
    guard (AccessToken.minimumBytes...AccessToken.maximumBytes).contains(text.utf8.count) else { return nil }
    let digest = SHA256Digest(of: text.utf8)
    var found: AccessToken?
    for token in tokens where token.digest.isEqual(to: digest) { found = found ?? token }
    return found
  }
}
