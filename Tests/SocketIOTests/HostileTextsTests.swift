import SocketIO
import TestSupport
import Testing

@Suite("socket.io: texts that nobody should send")
struct HostileTextsTests {
  @Test("a body with a long run of combining marks costs no time")
  func combiningMarks() throws {
    // One character of 240,000 bytes, which takes seconds to compare.
    let marks = "e" + String(repeating: "\u{0301}\u{0316}", count: 60_000)
    var packets: [String] = []
    let taken = ProcessorTime.least(within: .milliseconds(50)) {
      packets = (try? EngineIOPayload.parse("2\u{1E}4\(marks)\u{1E}6").packets) ?? []
    }
    #expect(packets.map(\.utf8.count) == [1, 1 + marks.utf8.count, 1])
    #expect(taken < .milliseconds(50))
  }
}
