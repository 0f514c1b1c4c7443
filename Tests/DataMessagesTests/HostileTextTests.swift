import DataMessages
import Media
import NIOCore
import TestSupport
import Testing

/// Text that takes seconds to compare as a Swift string: a letter with two kinds of marks in the wrong order.
@Suite("Data messages with hostile text")
struct HostileTextTests {
  static let marks = "a" + String(repeating: "\u{0301}\u{0316}", count: 60_000)
  static let plain = String(repeating: "a", count: marks.utf8.count)

  @Test(
    "a text of combining marks costs no more than one of ASCII, wherever it is in a message",
    arguments: [
      #"{"type":"%","data":"x"}"#, #"{"type":"__file","signal":"%"}"#,
      #"{"type":"__file","signal":"accept","sendId":"%"}"#,
      #"{"type":"__file","signal":"ask","name":"%","size":1,"sendId":"X"}"#, #"{"%":1}"#, #"{"data":"x","%":{"%":1}}"#,
      #"{"type":"__msg","data":"%"}"#, #"{"type":"__file","signal":"chunk","sendId":"X","data":"%"}"#, "%",
      #"{"data":"%"#,
    ])
  func costs(frame: String) throws {
    let parts = frame.split(separator: "%", omittingEmptySubsequences: false).map(String.init)
    let ratio = ProcessorTime.ratio(of: Self.marks, to: Self.plain) { text in
      // Texts of this size are refused in an object with two of them.
      let message = parts.dropFirst().reduce(parts[0]) { $0 + text.prefix(utf8Bytes: 240_000 / (parts.count - 1)) + $1 }
      var owner = TransferOwner()
      if let read = try? DataMessage(parsing: message) {
        owner.transfers.receive(read, now: owner.now)
        owner.carryOut()
        if case .chat(let text) = read {
          let entry = ChatEntry(
            time: 1, secondsSince1970: 1, sender: "id", text: text, direction: .received)
          var writer = WebVTTWriter()
          _ = (entry.jsonLine, writer.text(appending: entry), text.description)
        }
      }
    }
    #expect(ratio < 10, "Marks cost \(ratio) times as much as ASCII.")
  }

  @Test("a name in a message is ASCII and has at most 64 bytes, also in escapes")
  func names() {
    for name in ["é", #"\u00e9"#, String(repeating: "a", count: 65)] {
      #expect(throws: DataMessageError.self) { try DataMessage(parsing: #"{"data":"x","\#(name)":1}"#) }
    }
    #expect((try? DataMessage(parsing: #"{"d\u0061ta":"x"}"#)) == .chat("x"))
  }

  @Test("two texts that look the same are two texts")
  func bytes() throws {
    #expect(try DataMessage(parsing: #"{"data":"å"}"#) != DataMessage(parsing: #"{"data":"\#("a\u{30A}")"}"#))
    var bot = TransferOwner()
    #expect(throws: DataMessageError.self) {
      try bot.receive(#"{"type":"__file","signal":"ask","name":"a","size":1,"sendId":"å"}"#)
    }
  }
}

@Suite("What all participants of a call may make us keep")
struct SharedAllowanceTests {
  @Test("a participant who comes back under 100 new ids takes less than the limit, and leaves enough for others")
  func rejoining() {
    var allowance = SharedAllowance(capacity: 16 << 20, perParticipant: 1 << 20, perSecond: 4 << 10)
    let now = MonotonicInstant.now
    var all: Int64 = 0
    for _ in 0..<100 {
      var taken: Int64 = 0
      while allowance.take(16 << 10, by: taken, now: now) { taken += 16 << 10 }
      #expect(taken <= 1 << 20)
      all += taken
    }
    #expect(all <= 16 << 20)
    #expect(all > 8 << 20)
    // An honest text is short, and time brings the rest back.
    let isShortTaken = allowance.take(1_000, by: 0, now: now)
    let isLaterTaken = allowance.take(500 << 10, by: 0, now: now + .seconds(1_800))
    #expect(isShortTaken && isLaterTaken)
  }

  @Test("the first participant has the whole limit of one, and what is given back can be taken again")
  func first() {
    var allowance = SharedAllowance(capacity: 100, perParticipant: 10)
    let now = MonotonicInstant.now
    let isWholeTaken = allowance.take(10, by: 0, now: now)
    #expect(isWholeTaken)
    let areOthersTaken = [(1, 10), (-1, 0), (.max, 0)].map { allowance.take($0.0, by: $0.1, now: now) }
    #expect(areOthersTaken == [false, false, false])
    for _ in 0..<20 { _ = allowance.take(4, by: 0, now: now) }
    let before = (0..<100).count { _ in allowance.take(1, by: 0, now: now) }
    allowance.giveBack(50)
    let after = (0..<100).count { _ in allowance.take(1, by: 0, now: now) }
    #expect(after > before)
    allowance.giveBack(.max)
    let isTakenAgain = allowance.take(10, by: 0, now: now)
    #expect(isTakenAgain)
  }
}
