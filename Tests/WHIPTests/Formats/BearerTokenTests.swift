import Foundation
import Testing
import WHIP

@Suite("Bearer tokens")
struct BearerTokenTests {
  @Test("white space around a token is removed, and no description contains the token")
  func secret() throws {
    let token = try BearerToken(" s3cret\r\n")
    #expect(token.secret == "s3cret")
    var dumped = ""
    dump([token], to: &dumped)
    dump(TokenList([token]), to: &dumped)
    var options = WHIPClient.Options()
    options.token = token
    dump(options, to: &dumped)
    for text in ["\(token)", String(reflecting: token), "\(options)", "\(TokenList([token]))", dumped] {
      #expect(!text.contains("s3cret"))
    }
  }

  @Test("texts that cannot stand in a header are no tokens")
  func invalid() {
    #expect(throws: BearerToken.ParseError.empty) { try BearerToken(" \n") }
    #expect(throws: BearerToken.ParseError.invalidCharacter) { try BearerToken("a b") }
    #expect(throws: BearerToken.ParseError.invalidCharacter) { try BearerToken("a\r\nX: y") }
    #expect(throws: BearerToken.ParseError.invalidCharacter) { try BearerToken("ä") }
    #expect(throws: BearerToken.ParseError.tooLong(limit: 8_192)) {
      try BearerToken(String(repeating: "a", count: 8_193))
    }
  }

  @Test("a file has one token on each line, and one without a token does not open the server")
  func file() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).tokens").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Data("# comment\none\n\n two \r\n".utf8).write(to: URL(fileURLWithPath: path))
    let list = TokenList(try TokenList.tokens(in: path))
    #expect(list.match("Bearer one") == .token(0))
    #expect(list.match("Bearer two") == .token(1))
    #expect(list.match("Bearer # comment") == .wrong)
    #expect(list.match(nil) == .missing)
    try Data("\n# only a comment\n".utf8).write(to: URL(fileURLWithPath: path))
    #expect(throws: BearerToken.ParseError.empty) { try TokenList.tokens(in: path) }
    #expect(throws: BearerToken.ParseError.unreadable(file: path + "x")) { try TokenList.tokens(in: path + "x") }
    #expect(throws: BearerToken.ParseError.unreadable(file: path + "x")) { try BearerToken(file: path + "x") }
    #expect(TokenList().match(nil) == .open)
  }
}
