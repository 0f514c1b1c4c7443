import Janus
import Media
import Signalling
import TestSupport
import Testing

@Suite("Janus messages")
struct JanusMessageTests {
  @Test("every recorded message of a server is read", arguments: RecordedMessages.files)
  func recorded(file: String) throws {
    for text in try RecordedMessages.texts(file) {
      let message = try JanusMessage(parsing: text)
      if case .other(let kind) = message { Issue.record("\(kind) is not known.") }
    }
  }

  @Test("a recorded join lists the feed with its name and streams")
  func joined() throws {
    let messages = try RecordedMessages.texts("janus112-recorder.json").map { try JanusMessage(parsing: $0) }
    let joined = messages.compactMap { message -> VideoRoomEvent? in
      if case .plugin(let event, _, _, _) = message, case .joined = event { return event }
      return nil
    }
    #expect(
      joined == [
        .joined(
          id: .number(8_965_523_171_778_191), privateID: 1_726_115_697,
          feeds: [
            JanusFeedInfo(
              id: .number(139_239_023_094_577), display: "alice",
              streams: [.init(type: "audio", mid: "0"), .init(type: "video", mid: "1")])
          ])
      ])
  }

  @Test("the recorded errors have the numbers and words of the server")
  func errors() throws {
    let errors = try RecordedMessages.texts("janus112-errors.json").compactMap { text -> JanusError? in
      switch try JanusMessage(parsing: text) {
      case .error(let error, _): return error
      case .plugin(.failed(let error), _, _, _): return error
      default: return nil
      }
    }
    #expect(errors.map(\.code) == [457, 426, 429, 433, 430, 428, 430, 423, 428, 425, 459, 460, 458])
    #expect(errors[1].description == "There is no such room (Janus error 426: \"No such room (4321)\").")
    #expect(errors[2].permanent == .unauthorized(errors[2].description))
    #expect(errors[2].description.hasPrefix("The room requires a PIN "))
    #expect(errors[3].permanent == .unauthorized(errors[3].description))
    #expect(errors[3].description.hasPrefix("The room's PIN is wrong "))
    #expect(errors[12].permanent == nil)
  }

  @Test("a recorded removal by a moderator and the end of a room are read")
  func removal() throws {
    let kicked = try RecordedMessages.texts("janus112-text-ids-recorder.json").map { try JanusMessage(parsing: $0) }
    #expect(
      kicked.contains {
        if case .plugin(.removed(reason: "kicked"), _, nil, nil) = $0 { true } else { false }
      })
    let publisher = try RecordedMessages.texts("janus112-text-ids-publisher.json").map { try JanusMessage(parsing: $0) }
    #expect(publisher.contains { if case .plugin(.left(.text("rec")), _, nil, nil) = $0 { true } else { false } })
    #expect(publisher.contains { if case .plugin(.destroyed, _, nil, nil) = $0 { true } else { false } })
  }

  @Test("a recorded trickled candidate has its mid and its index, and the end of candidates is an empty one")
  func trickle() throws {
    let candidates = try RecordedMessages.texts("janus112-text-ids-publisher.json").compactMap {
      if case .trickle(let candidate, _) = try JanusMessage(parsing: $0) { return candidate.trickled }
      return nil
    }
    #expect(
      candidates == [
        TrickledCandidate(
          candidate: "candidate:1 1 udp 2015363327 192.0.2.2 41049 typ host", mid: "0", mLineIndex: 0),
        TrickledCandidate(candidate: ""),
      ])
  }

  @Test(
    "a text that is not a message is rejected with a sentence",
    arguments: [
      "", "{}", "[]", "1", "null", "{\"janus\":1}", "{\"janus\":\"ack\"}", "{\"janus\":\"event\",\"sender\":1}",
      "{\"janus\":\"event\",\"plugindata\":{\"data\":{}}}", "{\"janus\":\"hangup\",\"sender\":-1}",
      "{\"janus\":\"hangup\",\"sender\":1e300}", "{\"janus\":\"error\",\"error\":{\"code\":\"x\"}}",
      "{\"janus\":\"trickle\",\"sender\":1}", "{\"janus\":\"ack\",\"transaction\":\"1\"", "\u{0}",
    ])
  func rejected(text: String) {
    let error = #expect(throws: JanusMessage.ParseError.self) { try JanusMessage(parsing: text) }
    #expect(error?.description.hasSuffix(".") == true)
  }

  @Test("a message that is too large, too deep or has too many values is rejected without decoding it")
  func tooMuch() {
    let large = "{\"janus\":\"" + String(repeating: "a", count: 256 * 1024) + "\"}"
    #expect(throws: JanusMessage.ParseError.tooLarge(bytes: large.utf8.count)) { try JanusMessage(parsing: large) }
    let deep = "{\"janus\":" + String(repeating: "[", count: 100_000)
    #expect(throws: JanusMessage.ParseError.tooMuch(values: 100_001, depth: 100_001)) {
      try JanusMessage(parsing: deep)
    }
    let many = "{\"janus\":[" + String(repeating: "0,", count: 100_000) + "0]}"
    #expect(throws: JanusMessage.ParseError.tooMuch(values: 100_002, depth: 2)) { try JanusMessage(parsing: many) }
  }

  @Test("fields of the wrong kind count as missing, and a feed that cannot be read is skipped")
  func lenient() throws {
    let text = """
      {"janus":"event","sender":7,"transaction":3,"plugindata":{"data":{"videoroom":"event","publishers":[
      {"id":-1},{"id":5,"display":6,"streams":[{"type":"video"},{"type":"audio","mid":"a","disabled":"x"},4]},9]}}}
      """
    #expect(
      try JanusMessage(parsing: text)
        == .plugin(
          .published([JanusFeedInfo(id: .number(5), streams: [.init(type: "audio", mid: "a")])]), handle: 7,
          transaction: nil, description: nil))
  }

  @Test("damaged messages are read or rejected, and do no harm", arguments: 1...40)
  func damaged(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let texts = try RecordedMessages.all()
    for text in texts {
      _ = try? JanusMessage(parsing: Damage.apply(to: text, using: &generator))
    }
  }
}
