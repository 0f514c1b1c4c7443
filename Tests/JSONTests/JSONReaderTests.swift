import JSON
import Media
import TestSupport
import Testing

@Suite("JSON from outside")
struct JSONReaderTests {
  struct Message: Decodable, Equatable {
    var text: UntrustedText?
  }

  private func read(_ text: String, _ limits: JSONLimits = .init(values: 8, depth: 4)) throws -> Message {
    try JSONReader.decode(Message.self, from: text, within: limits)
  }

  @Test("texts within the limits are decoded, with names that are written with escapes")
  func decoded() throws {
    #expect(try read(#"{"text":"Grüße \u00e9\ud83d\ude00 : { [ ,"}"#).text == "Grüße é😀 : { [ ,")
    #expect(try read(#"{"te\u0078t":"a","more\"":[1,2]}"#).text == "a")
    #expect(try read("{}").text == nil)
  }

  @Test(
    "texts beyond a limit are refused before they are decoded",
    arguments: [
      (#"{"a":[1,2,3,4,5,6,7,8]}"#, JSONReader.Problem.tooMuch(values: 9, depth: 2)),
      ("[[[[[]]]]]", .tooMuch(values: 5, depth: 5)),
      (#"{"\#(String(repeating: "a", count: 257))":1}"#, .invalid(bytes: 263)),
      (#"{"é":1}"#, .invalid(bytes: 8)), (#"{"\u00e9":1}"#, .invalid(bytes: 12)), (#"{"a\u":1}"#, .invalid(bytes: 9)),
      ("{\u{0}}", .invalid(bytes: 3)), (#"{"text":"#, .invalid(bytes: 8)), ("", .invalid(bytes: 0)),
    ])
  func refused(text: String, problem: JSONReader.Problem) {
    #expect(throws: problem) { try read(text) }
  }

  @Test("a limit of bytes is kept, and some names outside ASCII can be allowed")
  func options() throws {
    #expect(throws: JSONReader.Problem.tooLarge(bytes: 12, limit: 11)) {
      try read(#"{"text":"a"}"#, .init(bytes: 11))
    }
    let limits = JSONLimits(nameRunOutsideASCII: 4)
    #expect(try read(#"{"éé":1,"\u00e9\u00e9":2,"text":"a"}"#, limits).text == "a")
    #expect(throws: JSONReader.Problem.self) { try read(#"{"ééé":1}"#, limits) }
    #expect(throws: JSONReader.Problem.self) { try read(#"{"\u00e9\u00e9\u00e9":1}"#, limits) }
    // A value is not a name.
    #expect(try read(#"{"text":"äöüéèà"}"#, limits).text == "äöüéèà")
  }

  @Test("names and values of combining marks cost no more than those of ASCII")
  func costs() {
    let marks = "a" + String(repeating: "\u{0301}\u{0316}", count: 60_000)
    let plain = String(repeating: "a", count: marks.utf8.count)
    for frame in [#"{"%":1}"#, #"{"text":"%"}"#, #"{"text":"a","more":{"%":{"%":[]}}}"#] {
      let parts = frame.split(separator: "%", omittingEmptySubsequences: false).map(String.init)
      let ratio = ProcessorTime.ratio(of: marks, to: plain) { text in
        let message = parts.dropFirst().reduce(parts[0]) { $0 + text + $1 }
        if let text = try? read(message).text { _ = (text == "b", Set([text]), text.ascii, text.hasPrefix("a")) }
      }
      #expect(ratio < 10, "Marks in \(frame) cost \(ratio) times as much as ASCII.")
    }
  }
}
