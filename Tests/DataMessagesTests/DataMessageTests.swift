import DataMessages
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Messages of the data channel")
struct DataMessageTests {
  static let examples: [(DataMessage, String)] = [
    (.chat("hello"), #"{"type":"__msg","data":"hello"}"#),
    (.chat("a\"b\\c\nd\r\t\u{1}é😀"), #"{"type":"__msg","data":"a\"b\\c\nd\r\t\u0001é😀"}"#),
    (
      .fileOffer(FileOffer(name: "a.png", size: 1_234, sendID: "X")),
      #"{"type":"__file","signal":"ask","name":"a.png","size":1234,"sendId":"X"}"#
    ),
    (
      .fileOffer(FileOffer(name: "a.png", size: 0, sendID: "X", isBinary: true)),
      #"{"type":"__file","signal":"ask","name":"a.png","size":0,"sendId":"X","binary":1}"#
    ),
    (.fileAccepted(sendID: "X", isBinary: false), #"{"type":"__file","signal":"accept","sendId":"X"}"#),
    (.fileAccepted(sendID: "X", isBinary: true), #"{"type":"__file","signal":"accept","sendId":"X","binary":1}"#),
    (.fileRefused(sendID: "X"), #"{"type":"__file","signal":"refuse","sendId":"X"}"#),
    (
      .fileChunk(FileChunk(sendID: "X", data: "data:", isLast: false, percent: 12.5)),
      #"{"type":"__file","signal":"chunk","sendId":"X","last":false,"data":"data:","percent":12.5}"#
    ),
    (
      .fileChunk(FileChunk(sendID: "X", data: "", isLast: true)),
      #"{"type":"__file","signal":"chunk","sendId":"X","last":true,"data":""}"#
    ),
    (.fileClosed(sendID: nil), #"{"type":"__file","signal":"close"}"#),
    (.fileClosed(sendID: "X"), #"{"type":"__file","signal":"close","sendId":"X"}"#),
  ]

  @Test("each message is written as the page writes it, and read back as the same", arguments: examples.indices)
  func roundTrip(index: Int) throws {
    let (message, text) = Self.examples[index]
    #expect(message.text == text)
    #expect(try DataMessage(parsing: text) == message)
  }

  @Test("messages are read as leniently as the page reads them")
  func lenient() throws {
    #expect(try DataMessage(parsing: #"{"data":"no type"}"#) == .chat("no type"))
    #expect(try DataMessage(parsing: #"{"type":"anything","data":5,"more":{"a":[1]}}"#) == .chat("5"))
    #expect(try DataMessage(parsing: #"{"type":7,"data":1.5}"#) == .chat("1.5"))
    #expect(try DataMessage(parsing: #"{"type":"__msg","data":true}"#) == .chat("true"))
    let offer = #"{"sendId":"X","size":1e3,"name":"a","binary":true,"signal":"ask","type":"__file"}"#
    #expect(
      try DataMessage(parsing: offer) == .fileOffer(FileOffer(name: "a", size: 1_000, sendID: "X", isBinary: true)))
    #expect(
      try DataMessage(parsing: #"{"type":"__file","signal":"chunk","sendId":"X","data":"x"}"#)
        == .fileChunk(FileChunk(sendID: "X", data: "x", isLast: false)))
  }

  @Test(
    "unusable messages are refused with a sentence",
    arguments: [
      ("", DataMessageError.notAnObject(bytes: 0)), ("[]", .notAnObject(bytes: 2)), ("5", .notAnObject(bytes: 1)),
      (#"{"type":"__msg"}"#, .unusable(message: "chat", field: "data")),
      (#"{"type":"__file"}"#, .unusable(message: "__file", field: "signal")),
      (#"{"type":"__file","signal":"go"}"#, .unknownSignal("go")),
      (#"{"type":"__file","signal":"ask","size":1,"sendId":"X"}"#, .unusable(message: "ask", field: "name")),
      (
        #"{"type":"__file","signal":"ask","name":"a","size":-1,"sendId":"X"}"#, .unusable(message: "ask", field: "size")
      ),
      (
        #"{"type":"__file","signal":"ask","name":"a","size":1e300,"sendId":"X"}"#,
        .unusable(message: "ask", field: "size")
      ),
      (
        #"{"type":"__file","signal":"ask","name":"a","size":1.5,"sendId":"X"}"#,
        .unusable(message: "ask", field: "size")
      ),
      (#"{"type":"__file","signal":"accept"}"#, .unusable(message: "accept", field: "sendId")),
      (#"{"type":"__file","signal":"refuse","sendId":""}"#, .unusable(message: "refuse", field: "sendId")),
      (#"{"type":"__file","signal":"chunk","sendId":"X"}"#, .unusable(message: "chunk", field: "data")),
      (#"{"data":[[[[[[[[1]]]]]]]]}"#, .tooMuchJSON(values: 9, depth: 9)),
    ])
  func unusable(text: String, error: DataMessageError) {
    #expect(throws: error) { try DataMessage(parsing: text) }
    #expect(error.description.hasSuffix("."))
  }

  @Test("a message may have 256 KiB, a sendId 128 bytes, and an object 256 values")
  func limits() throws {
    let frame = #"{"data":""}"#
    let text = String(repeating: "a", count: (256 << 10) - frame.utf8.count)
    #expect(try DataMessage(parsing: #"{"data":"\#(text)"}"#) == .chat(UntrustedText(text)))
    #expect(throws: DataMessageError.tooLarge(bytes: 262_145, limit: 262_144)) {
      try DataMessage(parsing: #"{"data":"\#(text)a"}"#)
    }
    let id = String(repeating: "x", count: 128)
    #expect(try DataMessage(parsing: DataMessage.fileRefused(sendID: id).text) == .fileRefused(sendID: id))
    #expect(throws: DataMessageError.self) { try DataMessage(parsing: DataMessage.fileRefused(sendID: id + "x").text) }
    #expect(throws: DataMessageError.self) {
      try DataMessage(parsing: #"{"data":"a","more":[\#(String(repeating: "1,", count: 256))1]}"#)
    }
  }

  @Test("a binary message of UTF-8 is chat, and other bytes are refused")
  func binaryChat() throws {
    #expect(try DataMessage(chatIn: ByteBuffer(string: "grüße 😀")) == .chat("grüße 😀"))
    #expect(try DataMessage(chatIn: ByteBuffer()) == .chat(""))
    #expect(throws: DataMessageError.notText(bytes: 2)) { try DataMessage(chatIn: ByteBuffer(bytes: [0xC3, 0x28])) }
    #expect(throws: DataMessageError.tooLarge(bytes: 300_000, limit: 262_144)) {
      try DataMessage(chatIn: ByteBuffer(repeating: 65, count: 300_000))
    }
  }

  @Test("texts of a file's channel are written exactly and read back")
  func fileChannelMessages() throws {
    let digest = String(repeating: "0123abcd", count: 8)
    let examples: [(FileChannelMessage, String)] = [
      (.end(size: 5, sha256: digest), #"{"size":5,"sha256":"\#(digest)"}"#),
      (.received(sha256: digest), #"{"received":true,"sha256":"\#(digest)"}"#),
      (.rejected(reason: "no \"space\""), #"{"received":false,"reason":"no \"space\""}"#),
    ]
    for (message, text) in examples {
      #expect(message.text == text)
      #expect(try FileChannelMessage(parsing: text) == message)
    }
    #expect(
      try FileChannelMessage(parsing: #"{"size":5,"sha256":"\#(digest.uppercased())"}"#)
        == .end(size: 5, sha256: digest))
    for text in [#"{"size":5,"sha256":"12"}"#, #"{"received":true}"#, "{}", #"{"size":-5,"sha256":"\#(digest)"}"#] {
      #expect(throws: DataMessageError.self) { try FileChannelMessage(parsing: text) }
    }
  }

  @Test("damaged messages cause no trap, and what is read is written and read as the same, for 20,000 mutations")
  func mutations() {
    var generator = SeededGenerator(seed: 2_026)
    let seeds = Self.examples.map { Array($0.1.utf8) }
    let pieces = [
      #"""#, "{", "}", "[", ":", ",", "\\u", "\\", "null", "-1", "1e400", "\u{0}", "\u{301}", #""binary":1"#,
    ]
    var parsed = 0
    for round in 0..<20_000 {
      var message = seeds[round % seeds.count]
      for _ in 0..<Int.random(in: 1...2, using: &generator) {
        let index = Int.random(in: 0..<max(1, message.count), using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0 where index < message.count:
          message[index] = UInt8.random(in: .min ... .max, using: &generator)
        case 1: message.removeSubrange(min(index, message.count)...)
        case 2 where index < message.count: message.remove(at: index)
        default:
          message.insert(
            contentsOf: (pieces.randomElement(using: &generator) ?? "").utf8, at: min(index, message.count))
        }
      }
      _ = try? DataMessage(chatIn: ByteBuffer(bytes: message))
      guard let read = try? DataMessage(parsing: String(decoding: message, as: UTF8.self)) else { continue }
      parsed += 1
      if (try? DataMessage(parsing: read.text)) != read { Issue.record("round \(round): \(read)") }
    }
    #expect(parsed > 500)
  }

  @Test("random ids are those of the page's alphabet, and differ")
  func sendIDs() {
    var generator = SeededGenerator(seed: 1)
    let ids = (0..<100).map { _ in FileOffer.randomSendID(using: &generator) }
    #expect(Set(ids).count == 100)
    #expect(ids.allSatisfy { $0.allSatisfy { "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-".contains($0) } })
  }
}
