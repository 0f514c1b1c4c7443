import Media
import Signalling
import TestSupport
import Testing

@testable import Janus

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
}
