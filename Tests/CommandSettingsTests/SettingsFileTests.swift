import CommandSettings
import Testing

@Suite("a file of settings")
struct SettingsFileTests {
  private func read(_ text: String) throws -> [String] {
    try SettingsFile(text, sections: ["call", "load"]).entries.map { entry in
      let value =
        switch entry.value {
        case .text(let text): text.text
        case .list(let texts): "[" + texts.map(\.text).joined(separator: "|") + "]"
        }
      return "\(entry.section.map { $0 + "." } ?? "")\(entry.key)=\(value)"
    }
  }

  @Test("keys, lists, sections, quotes and comments are read")
  func reads() throws {
    let text = """
      ---
      # everywhere
      server: wss://calls.example:8443/#100   # the room too
      user: 'it''s me'
      ice-server:
        - stun:one.example
        - "turn:two.example"   # second
      say: [hello, "a, b", 'c']
      expect:
      - video.fps >= 24

      call:
          record: out/
          loopback: false
          impair: "0s: none; 10s: rate=150kbit"
      load:
        publishers: 3
      """
    #expect(
      try read(text) == [
        "server=wss://calls.example:8443/#100", "user=it's me", "ice-server=[stun:one.example|turn:two.example]",
        "say=[hello|a, b|c]", "expect=[video.fps >= 24]", "call.record=out/", "call.loopback=false",
        "call.impair=0s: none; 10s: rate=150kbit", "load.publishers=3",
      ])
    #expect(try read("\u{FEFF}room: \"a\\\"\\n\\\\b\"\r\nuser: x\r\n") == ["room=a\"\n\\b", "user=x"])
    #expect(
      try read("a: 'it''s # one' # x\nb: \"\\\"# two\" # x\nc: call 'em # x\nd: a#b\ne: ['#', \"#\"] # x")
        == ["a=it's # one", "b=\"# two", "c=call 'em", "d=a#b", "e=[#|#]"])
    #expect(try read("call:\n- anna\n- bob\nload:\n  room: 1") == ["call=[anna|bob]", "load.room=1"])
    #expect(try read("say: []\n# nothing else") == ["say=[]"])
    #expect(try read("") == [])
  }

  @Test(
    "everything else is refused with its line",
    arguments: [
      ("room 100", 1, "key: value"), ("room:100", 1, "key: value"), ("\nroom: 1\nroom: 2", 3, "already in line 2"),
      ("room: |\n  text", 1, "several lines"), ("room: &a x", 1, "Anchors"), ("room: !str x", 1, "Tags"),
      ("room: {a: b}", 1, "Maps"), ("call:\n  room:\n", 2, "no value"), ("room:", 1, "no value"),
      ("room: \"open", 1, "not closed"), ("room: 'a' b", 1, "Nothing may follow"), ("impair: 0s: none", 1, "quotes"),
      ("play: -", 1, "quotes"), ("  room: 1", 1, "indented"), ("call:\n  room: 1\n    user: 2", 3, "indented by 2"),
      ("call:\n\troom: 1", 2, "tabs"), ("say: [a, b", 1, "not closed"), ("say: [a] b", 1, "Nothing may follow"),
      ("say: [a,,b]", 1, "empty"), ("say:\n  -\n", 2, "empty"), ("other:\n  room: 1", 1, "There is no command other."),
      ("cal:\n  room: 1", 1, "There is no command cal; did you mean call?"),
      ("room: \"\\x41\"", 1, "backslash"), ("- room", 1, "key: value"), ("room: @x", 1, "@"),
      ("record: null", 1, "null is no value in YAML; leave the line out, or put it into quotes."),
      ("record: ~ # none", 1, "~ is no value"), ("say: [a, NULL]", 1, "NULL is no value"),
      ("say:\n- Null", 2, "Null is no value"), ("a: 1\r\nroom: \"a\u{1B}[31m\"", 2, "U+001B"),
      ("a: 1 # \u{0}", 1, "U+0000"), ("a: 1\n\u{C}b: 2", 2, "U+000C"),
    ])
  func refuses(text: String, line: Int, reason: String) {
    let error = #expect(throws: SettingsFile.ParseError.self) { try read(text) }
    #expect(error?.line == line && error?.reason.contains(reason) == true, "\(error?.description ?? "")")
  }

  @Test("null in quotes is a text, and tabs may be in texts")
  func quotedNull() throws {
    #expect(try read("a: 'null'\nb: \"~\"\nc: nullable\nd: \"x\ty\"") == ["a=null", "b=~", "c=nullable", "d=x\ty"])
  }

  @Test("a file of the maximum size with many keys is read in a short time", .timeLimit(.minutes(1)))
  func manyKeys() throws {
    let text = (0..<80_000).map { "k\($0): 1\n" }.joined()
    #expect(text.utf8.count <= SettingsFile.maximumBytes)
    #expect(try SettingsFile(text, sections: []).entries.count == 80_000)
  }

  @Test("no text of few characters makes it trap")
  func anyText() {
    let pieces = ["\"", "'", "[", "]", "\\", "#", ":", "-", " ", "\n", "a", ",", "call", "\t", "\u{301}"]
    var seed: UInt64 = 7
    for _ in 0..<20_000 {
      var text = ""
      for _ in 0..<8 {
        seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        text += pieces[Int(seed >> 33) % pieces.count]
      }
      _ = try? SettingsFile(text, sections: ["call"])
      _ = try? SettingsFile("a: " + text, sections: ["call"])
    }
  }
}
