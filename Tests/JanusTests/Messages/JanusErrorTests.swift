import Janus
import Signalling
import Testing

@Suite("Janus errors")
struct JanusErrorTests {
  @Test("every number of the server has a sentence of its own, and an unknown one a general sentence")
  func sentences() {
    let known = [403, 405] + Array(421...437) + Array(452...472)
    for code in known {
      let text = JanusError(code: code, reason: "because").description
      #expect(!text.hasPrefix("The server reports an error"), "\(code)")
      #expect(text.hasSuffix("(Janus error \(code): \"because\")."))
    }
    #expect(JanusError(code: 499, reason: "").description == "The server reports an error (Janus error 499).")
  }

  @Test("a wrong id of the room and a codec that the room does not accept are told apart")
  func wrongElements() {
    let id = JanusError(code: 430, reason: "Invalid element type (room should be a positive integer)")
    let codec = JanusError(code: 430, reason: "Audio codec unavailable in this room")
    #expect(id.description.hasPrefix("The room's id is of the wrong kind (Janus error 430"))
    #expect(codec.description.hasPrefix("The room does not accept a codec that we publish (Janus error 430"))
    #expect(JanusError(code: 430, reason: "in this room").description.hasPrefix("A field of a request is of the wrong"))
  }

  @Test("what may succeed later is tried again; wrong credentials and wrong requests are not")
  func consequences() {
    for code in [403, 433, 470] { #expect(JanusError(code: code, reason: "").consequence == .unauthorized) }
    for code in [426, 430, 436, 460] { #expect(JanusError(code: code, reason: "").consequence == .rejected) }
    for code in [432, 458, 459, 461, 472, 490, 499, 0, -1, Int.max] {
      #expect(JanusError(code: code, reason: "").permanent == nil)
    }
  }

  @Test("the server's words are cut and made safe for a log")
  func unsafe() {
    let text = JanusError(code: 499, reason: "\u{1B}[2J\n" + String(repeating: "a", count: 10_000)).description
    #expect(text.utf8.count < 250)
    #expect(!text.contains("\u{1B}") && !text.contains("\n"))
  }
}
