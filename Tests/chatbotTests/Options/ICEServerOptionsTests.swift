import ArgumentParser
import BotPeer
import FoundationEssentials
import OptionValues
import Signalling
import Testing

@testable import chatbot

@Suite("Credentials of TURN servers")
struct ICEServerOptionsTests {
  @Test(
    "a file has a user and a password on a line each, or in one line",
    arguments: [
      ("bot:secret", "bot", "secret"),
      // A password may have colons.
      ("bot:se:cr:et", "bot", "se:cr:et"),
      // So may a user name with a time, before or after the name.
      ("1893456000:bot@example.org:Xq3+abc/def=", "1893456000:bot@example.org", "Xq3+abc/def="),
      ("bot:1893456000:Xq3+abc/def=", "bot:1893456000", "Xq3+abc/def="),
      ("1893456000:Xq3+abc/def=", "1893456000", "Xq3+abc/def="),
      ("a:b\nc:d", "a:b", "c:d"),
      ("  a b \r\n\r\n\tc d\t\r\n", "a b", "c d"),
    ])
  func pairs(text: String, user: String, password: String) throws {
    for text in [text, text + "\n"] {
      let pair = try #require(UserAndPassword.parse(text))
      #expect(pair.user == user)
      #expect(pair.password == password)
    }
  }

  @Test("other files are refused", arguments: ["", "bot", ":secret", "bot:", "bot secret", "a\nb\nc", "a b:c"])
  func others(text: String) {
    #expect(UserAndPassword.parse(text) == nil)
  }

  @Test("the user of a file with a colon reaches the servers that need one, and a bad file is named")
  func file() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(
      "turn-\(UInt64.random(in: 0 ... .max)).txt"
    ).path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let options = try ICEServerOptions.parse([
      "--ice-server", "stun:a.example", "--ice-server", "turn:a.example", "--ice-credentials", path,
    ])
    try Data("1893456000:bot\nsecret\n".utf8).write(to: URL(fileURLWithPath: path))
    #expect(
      try options.servers().servers(for: "me") == [
        "stun:a.example", ICEServer(url: "turn:a.example", username: "1893456000:bot", credential: "secret"),
      ])
    try Data("bot\n".utf8).write(to: URL(fileURLWithPath: path))
    let failure = #expect(throws: CallFailure.self) { try options.servers() }
    #expect(failure?.code == .usage)
    #expect(
      failure?.sentence.contains("must contain user:password, or the user and the password on a line each") == true)
  }
}
