import Janus
import Media
import Signalling
import TestSupport
import Testing

@Suite("Janus: texts that nobody should send")
struct HostileTextsTests {
  @Test("an offer with a long run of combining marks costs no time")
  func combiningMarks() {
    // One character of 120,000 bytes, which takes more than a second to compare.
    let marks = "e" + String(repeating: "\u{0301}\u{0316}", count: 30_000)
    let taken = ProcessorTime.least(within: .milliseconds(50)) {
      for offer in ["o=\(marks) 1 1 IN IP4 x\r\n", "\(marks)\r\no=- 2 1 IN IP4 x\r\n"] {
        var offers = JanusOffers()
        _ = offers.received(offer: "v=0\r\no=- 1 1 IN IP4 x\r\n")
        #expect(offers.received(offer: offer).count == 1)
      }
    }
    #expect(taken < .milliseconds(50))
  }

  @Test("the id of a later offer is replaced, whatever ends the lines", arguments: ["\r\n", "\n", "\r"])
  func laterOffer(end: String) {
    var offers = JanusOffers()
    _ = offers.received(offer: "v=0\(end)o=- 1 1 IN IP4 x\(end)s=é\(end)")
    #expect(
      offers.received(offer: "v=0\(end)o=- 22 2 IN IP4 x\(end)s=é\(end)")
        == [.offer("v=0\(end)o=- 1 2 IN IP4 x\(end)s=é\(end)")])
  }

  @Test("a message in UTF-16, whose size cannot be found, is rejected")
  func utf16() {
    let text = #"{"janus":"ack","transaction":"1"}"#
    let bytes = text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    #expect(throws: JanusMessage.ParseError.notAMessage(bytes: bytes.count)) {
      try JanusMessage(parsing: String(decoding: bytes, as: UTF8.self))
    }
  }

  @Test("messages with combining marks in any field cost no more than those of ASCII")
  func fields() {
    let marks = "a" + String(repeating: "\u{0301}\u{0316}", count: 30_000)
    let plain = String(repeating: "a", count: marks.utf8.count)
    let frames = [
      #"{"janus":"%"}"#, #"{"janus":"ack","transaction":"%"}"#, #"{"janus":"ack","%":1}"#,
      #"{"janus":"error","error":{"code":429,"reason":"%"}}"#,
      #"{"janus":"event","sender":1,"plugindata":{"data":{"videoroom":"%","leaving":"%"}}}"#,
      #"{"janus":"event","sender":1,"plugindata":{"data":{"videoroom":"event","publishers":[{"id":"%","display":"%"}]}}}"#,
      #"{"janus":"trickle","sender":1,"candidate":{"candidate":"%","sdpMid":"%"}}"#,
      #"{"janus":"event","sender":1,"jsep":{"type":"%","sdp":"%"},"plugindata":{"data":{"videoroom":"attached"}}}"#,
    ]
    for frame in frames {
      let parts = frame.split(separator: "%", omittingEmptySubsequences: false).map(String.init)
      let ratio = ProcessorTime.ratio(of: marks, to: plain) { text in
        let message = try? JanusMessage(parsing: parts.dropFirst().reduce(parts[0]) { $0 + text + $1 })
        if case .error(let error, _) = message { _ = error.consequence }
      }
      #expect(ratio < 10, "Marks in \(frame) cost \(ratio) times as much as ASCII.")
    }
  }

  @Test("ids that look the same are two feeds")
  func ids() {
    #expect(JanusID("\u{E5}") != JanusID("a\u{30A}"))
    #expect(Set([JanusID("\u{E5}"), JanusID("a\u{30A}"), JanusID("7"), JanusID.number(7)]).count == 3)
  }
}
