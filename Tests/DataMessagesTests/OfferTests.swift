import DataMessages
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Offers of files")
struct OfferTests {
  @Test("the policy decides by size, total and name")
  func policy() throws {
    var bot = TransferOwner(FilePolicy(acceptsFiles: true, maximumFileBytes: 100, maximumTotalBytes: 150))
    try bot.receive(offer("1", size: 101))
    try bot.receive(offer("2", size: 100))
    try bot.receive(offer("3", size: 51))
    try bot.receive(offer("4", size: 50))
    try bot.receive(offer("5", size: 1, name: "../../etc/passwd"))
    #expect(
      bot.refusals == [
        .tooLarge(bytes: 101, limit: 100), .tooMuchTogether(bytes: 51, left: 50), .unusableName(.pathSeparator),
      ])
    #expect(bot.refusals.allSatisfy { $0.description.hasSuffix(".") })
    #expect(
      bot.sent
        == ["refuse", "accept", "refuse", "accept", "refuse"].enumerated().map {
          .main(#"{"type":"__file","signal":"\#($1)","sendId":"\#($0 + 1)"}"#)
        })
    // A cancelled file counts with the bytes that arrived: none.
    try bot.receive(DataMessage.fileClosed(sendID: "2").text)
    try bot.receive(offer("6", size: 100))
    #expect(bot.refusals.count == 3 && bot.abandoned.count == 1)
  }

  @Test("an offer is accepted only when its file exists, and refused when it cannot be created")
  func creating() throws {
    var bot = TransferOwner()
    bot.answersCreate = false
    try bot.receive(offer("1"))
    let id = try #require(bot.created.keys.first)
    #expect(bot.sent.isEmpty && bot.created[id] == "a.txt")
    bot.now += .seconds(100)
    bot.call { $0.fileCreated(id, now: $1) }
    bot.call { $0.advance(now: $1) }
    #expect(bot.sent == [.main(DataMessage.fileAccepted(sendID: "1", isBinary: false).text)] && bot.abandoned.isEmpty)
    bot.answersCreate = true
    bot.createsFiles = false
    try bot.receive(offer("2"))
    #expect(bot.sent.last == .main(DataMessage.fileRefused(sendID: "2").text))
    #expect(bot.refusals == [.notCreated(reason: "no space")] && bot.transfers.count == 1)
  }

  @Test("16 transfers run, 4 offers wait for their end, and a flood of others is refused")
  func flood() throws {
    var bot = TransferOwner()
    for number in 0..<1_000 { try bot.receive(offer("\(number)")) }
    #expect(bot.transfers.count == 16 && bot.created.count == 16)
    #expect(bot.refusals.count == 980 && bot.transfers.counters.offersRefused == 980)
    #expect(throws: FileOfferError.tooManyTransfers(limit: 16)) { try bot.offer("a", [1]) }
    bot.sent = []
    // A waiting offer can be taken back.
    try bot.receive(DataMessage.fileClosed(sendID: "17").text)
    for number in [3, 5] { try bot.receive(DataMessage.fileClosed(sendID: "\(number)").text) }
    #expect(
      bot.sent == [
        .main(DataMessage.fileAccepted(sendID: "16", isBinary: false).text),
        .main(DataMessage.fileAccepted(sendID: "18", isBinary: false).text),
      ])
    #expect(bot.transfers.count == 16)
  }

  @Test("an offer with the sendId of a transfer in progress is ignored, and the transfer goes on")
  func duplicate() throws {
    var bot = TransferOwner()
    try bot.receive(offer("1", size: 3))
    try bot.receive(offer("1", size: 3, name: "b.txt"))
    #expect(bot.sent.count == 1 && bot.created.count == 1 && bot.transfers.counters.messagesIgnored == 1)
    try bot.receive(
      DataMessage.fileChunk(FileChunk(sendID: "1", data: "data:;base64,QUJD", isLast: true)).text)
    #expect(bot.finished.count == 1)
    // After its end the id can be used again.
    try bot.receive(offer("1", size: 3))
    #expect(bot.created.count == 2)
    #expect(throws: FileOfferError.unusableSendID) { try bot.offer("a", [1], sendID: "1") }
  }

  @Test("a file that the page refuses or does not answer is not sent")
  func refused() throws {
    var bot = TransferOwner()
    let one = try bot.offer("a", [1], sendID: "1")
    let two = try bot.offer("a", [1], sendID: "2")
    try bot.receive(DataMessage.fileRefused(sendID: "1").text)
    try bot.receive(DataMessage.fileRefused(sendID: "1").text)
    try bot.receive(DataMessage.fileAccepted(sendID: "3", isBinary: true).text)
    #expect(bot.failed == [one: .refused] && bot.transfers.counters.messagesIgnored == 2)
    bot.call { $0.cancel(two, now: $1) }
    #expect(bot.failed[two] == .cancelled && bot.sent.last == .main(DataMessage.fileClosed(sendID: "2").text))
  }

  @Test("names and sizes that a receiver would refuse are not offered")
  func ownNames() {
    var bot = TransferOwner()
    #expect(throws: FileOfferError.unusableName(.pathSeparator)) { try bot.offer("a/b", [1]) }
    #expect(throws: FileOfferError.unusableSize(-1)) { try bot.transfers.offer(name: "a", size: -1, now: bot.now) }
    #expect(bot.transfers.takeActions().isEmpty)
  }

  @Test("channels of the peer for no accepted file, and second ones, are closed")
  func strangeChannels() throws {
    var bot = TransferOwner()
    try bot.receive(DataMessage.fileOffer(FileOffer(name: "a", size: 3, sendID: "1", isBinary: true)).text)
    try bot.receive(offer("2"))
    try bot.offer("a", [1], sendID: "3")
    bot.sent = []
    for (channel, label) in [(2, "1"), (4, "1"), (2, "1"), (6, "2"), (8, "3"), (10, "x")] as [(UInt16, String)] {
      bot.call { $0.channelOpened(channel, label: label, isOpenedByPeer: true, now: $1) }
    }
    bot.call {
      $0.channelOpened(12, label: String(repeating: "\u{301}", count: 4_000), isOpenedByPeer: true, now: $1)
    }
    #expect(bot.sent == [.close(4), .close(2), .close(6), .close(8), .close(10), .close(12)])
    #expect(bot.transfers.counters.channelsClosed == 6)
    // Bytes on them are ignored.
    bot.call { $0.received(ByteBuffer(bytes: [1]), on: 6, now: $1) }
    bot.call { $0.received(text: "{}", on: 10, now: $1) }
    #expect(bot.transfers.counters.messagesIgnored == 2)
  }

  @Test(
    "random messages, channels and answers cause no trap and keep all limits, for each of 20 seeds", arguments: 0..<20)
  func randomCalls(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var bot = TransferOwner()
    bot.answersCreate = seed.isMultiple(of: 2)
    let data: [UntrustedText] = ["", "data:;base64,", "QUJD", "QQ==", "!", "data:"]
    for _ in 0..<3_000 {
      let id = "\(Int.random(in: 0..<24, using: &generator))"
      let channel = UInt16.random(in: 0..<12, using: &generator)
      let flag = Bool.random(using: &generator)
      let size = Int64.random(in: 0..<6, using: &generator)
      switch Int.random(in: 0..<14, using: &generator) {
      case 0, 1:
        try bot.receive(DataMessage.fileOffer(FileOffer(name: "a", size: size, sendID: id, isBinary: flag)).text)
      case 2: try bot.receive(DataMessage.fileAccepted(sendID: id, isBinary: flag).text)
      case 3: try bot.receive(DataMessage.fileRefused(sendID: id).text)
      case 4:
        let part = data.randomElement(using: &generator) ?? ""
        try bot.receive(DataMessage.fileChunk(FileChunk(sendID: id, data: part, isLast: flag)).text)
      case 5: try bot.receive(DataMessage.fileClosed(sendID: id).text)
      case 6, 7: bot.call { $0.channelOpened(channel, label: id, isOpenedByPeer: flag, now: $1) }
      case 8: bot.call { $0.channelClosed(channel, now: $1) }
      case 9: bot.call { $0.received(ByteBuffer(repeating: 1, count: Int(size)), on: channel, now: $1) }
      case 10:
        let text = flag ? FileChannelMessage.end(size: size, sha256: sha256([1])).text : "{}"
        bot.call { $0.received(text: text, on: channel, now: $1) }
      case 11: _ = try? bot.offer("a", [UInt8](repeating: 1, count: Int(size) * 2_000), sendID: id)
      case 12: bot.advance(by: .seconds(Int64(size)))
      default:
        if let id = bot.created.keys.randomElement(using: &generator) {
          bot.call { if flag { $0.fileCreated(id, now: $1) } else { $0.fileFailed(id, reason: "x", now: $1) } }
        }
      }
      bot.now += .milliseconds(Int64.random(in: 0..<200, using: &generator))
      #expect(bot.transfers.count <= 16)
    }
    bot.call { $0.disconnected(now: $1) }
    #expect(bot.transfers.count == 0 && bot.transfers.deadline == nil)
    let ended = Set(bot.finished.keys).union(bot.abandoned.keys)
    #expect(bot.written.keys.allSatisfy { ended.contains($0) })
  }

  func offer(_ sendID: String, size: Int64 = 3, name: UntrustedText = "a.txt") -> String {
    DataMessage.fileOffer(FileOffer(name: name, size: size, sendID: sendID)).text
  }
}
