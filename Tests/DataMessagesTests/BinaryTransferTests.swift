import DataMessages
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Files in binary messages")
struct BinaryTransferTests {
  static let sizes = [0, 1, 749, 750, 751, 65_535, 65_536, 65_537, 1_000_000, 3_000_000]

  @Test("files in both directions at the same time are received whole and confirmed", arguments: sizes)
  func both(size: Int) throws {
    var pair = TransferPair(TransferOwner(), TransferOwner())
    let (one, other) = (bytes(size, seed: 1), bytes(size, seed: 2))
    let left = try pair.left.offer("left.bin", one, sendID: "L")
    let right = try pair.right.offer("right.bin", other, sendID: "R")
    try pair.run()
    for (sender, id, receiver, file) in [(pair.left, left, pair.right, one), (pair.right, right, pair.left, other)] {
      let received = try #require(receiver.created.keys.first)
      #expect(receiver.written[received] ?? [] == file)
      #expect(receiver.finished[received] == sha256(file) && sender.confirmed[id] == sha256(file))
      #expect(sender.lastProgress[id] ?? 0 == Int64(size))
      #expect(sender.largestMessage <= 65_536)
      // The threshold and one read.
      #expect(sender.largestBuffered <= (1 << 20) + (256 << 10))
      #expect(sender.transfers.count == 0 && sender.transfers.deadline == nil && sender.failed.isEmpty)
    }
  }

  @Test("the digest is SHA-256, in pieces too, and a copy continues on its own")
  func digest() {
    #expect(sha256([]) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    var hash = SHA256Hash()
    hash.update(ByteBuffer(string: "a"))
    var copy = hash
    hash.update(ByteBuffer(string: "bc"))
    #expect(hash.digest == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(copy.digest == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb")
    copy.update(ByteBuffer(string: "bc"))
    #expect(copy.digest == hash.digest)
  }

  @Test("messages are no larger than the peer receives, and a peer of tiny messages is offered chunks")
  func messageSize() throws {
    var pair = TransferPair(TransferOwner(messageBytes: 16_000), TransferOwner())
    try pair.left.offer("a", bytes(100_000, seed: 1))
    try pair.run()
    #expect(pair.left.largestMessage == 16_000 && pair.left.confirmed.count == 1)
    var tiny = TransferOwner(messageBytes: 1_023)
    try tiny.offer("a", [1])
    #expect(tiny.sent == [.main(#"{"type":"__file","signal":"ask","name":"a","size":1,"sendId":"ID"}"#)])
  }

  @Test("the sender opens the channel with the sendId as its label only after a binary accept")
  func order() throws {
    var bot = TransferOwner()
    try bot.offer("a", [1, 2, 3])
    #expect(bot.sent == [.main(#"{"type":"__file","signal":"ask","name":"a","size":3,"sendId":"ID","binary":1}"#)])
    try bot.receive(#"{"type":"__file","signal":"accept","sendId":"ID","binary":1}"#)
    #expect(bot.sent.dropFirst() == [.open(label: "ID")])
    bot.call { $0.channelOpened(4, label: "ID", isOpenedByPeer: false, now: $1) }
    let digest = sha256([1, 2, 3])
    #expect(
      bot.sent.dropFirst(2) == [.binary(4, [1, 2, 3]), .text(4, #"{"size":3,"sha256":"\#(digest)"}"#)])
    #expect(bot.confirmed.isEmpty)
    bot.call { $0.received(text: #"{"received":true,"sha256":"\#(digest)"}"#, on: 4, now: $1) }
    #expect(bot.sent.last == .close(4) && bot.confirmed.count == 1)
  }

  @Test("either side without the binary mode uses chunks")
  func fallback() throws {
    let policy = FilePolicy(acceptsFiles: true, acceptsBinary: false)
    for owners in [
      (TransferOwner(offersBinary: false), TransferOwner()), (TransferOwner(), TransferOwner(policy)),
    ] {
      var pair = TransferPair(owners.0, owners.1)
      let file = bytes(10_000, seed: 3)
      let id = try pair.left.offer("a.webm", file)
      try pair.run()
      #expect(pair.right.written.values.first == file && pair.left.confirmed[id] == sha256(file))
      #expect(pair.left.largestMessage == 0)
    }
  }

  @Test("a channel that closes in the middle breaks the transfer off on both sides")
  func closeInTheMiddle() throws {
    for isSender in [true, false] {
      var pair = TransferPair(TransferOwner(), TransferOwner())
      let file = bytes(3_000_000, seed: 4)
      let id = try pair.left.offer("a", file)
      try pair.run { ($0.right.written.values.first?.count ?? 0) > 500_000 }
      let received = try #require(pair.right.created.keys.first)
      if isSender {
        pair.left.call { $0.cancel(id, now: $1) }
      } else {
        pair.right.call { $0.cancel(received, now: $1) }
      }
      try pair.run()
      let end = try #require(pair.right.abandoned[received])
      let written = pair.right.written[received] ?? []
      #expect(end.failure == (isSender ? .channelClosed : .cancelled))
      #expect(
        end.bytes == Int64(written.count) && end.sha256 == sha256(written) && written[...] == file.prefix(written.count)
      )
      #expect(
        pair.left.failed[id]
          == (isSender ? .cancelled : .rejected(reason: FileTransferFailure.cancelled.description)))
      #expect(pair.left.transfers.count == 0 && pair.right.transfers.count == 0)
    }
  }

  @Test("the end of the connection ends everything, without messages")
  func disconnected() throws {
    var pair = TransferPair(TransferOwner(), TransferOwner())
    let id = try pair.left.offer("a", bytes(3_000_000, seed: 4))
    try pair.run { ($0.right.written.values.first?.count ?? 0) > 500_000 }
    pair.left.sent = []
    pair.right.sent = []
    pair.left.call { $0.disconnected(now: $1) }
    pair.right.call { $0.disconnected(now: $1) }
    #expect(pair.left.failed[id] == .disconnected)
    #expect(pair.right.abandoned.values.first?.failure == .disconnected)
    for sent in pair.left.sent + pair.right.sent {
      if case .close = sent { continue }
      Issue.record("\(sent)")
    }
  }

  @Test("a file that cannot be stored is reported to the sender without our paths")
  func notStored() throws {
    var receiver = TransferOwner()
    receiver.storesFiles = false
    var pair = TransferPair(TransferOwner(), receiver)
    let id = try pair.left.offer("a", [1, 2, 3])
    try pair.run()
    #expect(pair.left.failed[id] == .rejected(reason: "The file could not be stored."))
    #expect(pair.right.abandoned.values.first?.failure == .file(reason: "/secret/path: no space"))
  }

  @Test("a receiver closes the channel of a complete file itself after 10 s")
  func senderDoesNotClose() throws {
    var bot = try receiving(size: 3)
    bot.call { $0.received(ByteBuffer(bytes: [1, 2, 3]), on: 2, now: $1) }
    bot.call { $0.received(text: FileChannelMessage.end(size: 3, sha256: sha256([1, 2, 3])).text, on: 2, now: $1) }
    #expect(bot.sent.last == .text(2, FileChannelMessage.received(sha256: sha256([1, 2, 3])).text))
    #expect(bot.transfers.count == 0)
    bot.advance(by: .seconds(10))
    #expect(bot.sent.last == .close(2) && bot.transfers.deadline == nil)
  }

  @Test("too many bytes, a wrong size, a wrong digest and other texts end the transfer, and the sender is told")
  func hostileSender() throws {
    let digest = sha256([1, 2, 3])
    let zeros = String(repeating: "0", count: 64)
    let cases: [(bytes: [UInt8], text: String, failure: FileTransferFailure, kept: Int64)] = [
      ([1, 2, 3, 4], "", .tooManyBytes(announced: 3), 0),
      ([1, 2], FileChannelMessage.end(size: 3, sha256: digest).text, .wrongSize(received: 2, announced: 3), 2),
      ([1, 2], FileChannelMessage.end(size: 2, sha256: digest).text, .wrongSize(received: 2, announced: 3), 2),
      (
        [1, 2, 3], FileChannelMessage.end(size: 3, sha256: zeros).text,
        .wrongDigest(announced: zeros, computed: digest), 3
      ),
      ([1], "hello", .unexpectedMessage(.notAnObject(bytes: 5)), 1),
      (
        [1], #"{"received":true,"sha256":"\#(digest)"}"#, .unexpectedMessage(.unusable(message: "end", field: "size")),
        1
      ),
    ]
    for (data, text, failure, kept) in cases {
      var bot = try receiving(size: 3)
      bot.call { $0.received(ByteBuffer(bytes: data), on: 2, now: $1) }
      bot.call { $0.received(text: text, on: 2, now: $1) }
      let end = try #require(bot.abandoned.values.first)
      #expect(end.failure == failure && end.bytes == kept)
      #expect(
        bot.sent.suffix(2) == [.text(2, FileChannelMessage.rejected(reason: failure.description).text), .close(2)])
    }
  }

  @Test("a receiver that confirms too early or another digest is not believed")
  func hostileReceiver() throws {
    for (answer, failure) in [
      (FileChannelMessage.received(sha256: String(repeating: "0", count: 64)).text, "The SHA-256"),
      (FileChannelMessage.rejected(reason: "disk full").text, "The receiver did not store the file: disk full"),
      ("{}", "The channel of the file had an unusable message"),
    ] {
      var bot = TransferOwner()
      let id = try bot.offer("a", [1, 2, 3])
      try bot.receive(DataMessage.fileAccepted(sendID: "ID", isBinary: true).text)
      bot.call { $0.channelOpened(4, label: "ID", isOpenedByPeer: false, now: $1) }
      bot.call { $0.received(text: answer, on: 4, now: $1) }
      #expect(bot.failed[id]?.description.hasPrefix(failure) == true && bot.confirmed.isEmpty)
      #expect(bot.sent.last == .close(4))
    }
    var bot = TransferOwner()
    let id = try bot.offer("a", bytes(4_000_000, seed: 1))
    try bot.receive(DataMessage.fileAccepted(sendID: "ID", isBinary: true).text)
    bot.call { $0.channelOpened(4, label: "ID", isOpenedByPeer: false, now: $1) }
    bot.call { $0.received(text: FileChannelMessage.received(sha256: sha256([])).text, on: 4, now: $1) }
    #expect(bot.failed[id] == .unexpectedMessage(.unusable(message: "received", field: "received")))
  }

  @Test("a channel that carries nothing for 60 s, never opens or cannot open ends its transfer")
  func standstill() throws {
    var bot = TransferOwner()
    let one = try bot.offer("a", bytes(4_000_000, seed: 1), sendID: "1")
    let two = try bot.offer("a", [1], sendID: "2")
    let three = try bot.offer("a", [1], sendID: "3")
    let four = try bot.offer("a", [1], sendID: "4")
    let five = try bot.offer("a", [1], sendID: "5")
    for id in 1...4 { try bot.receive(DataMessage.fileAccepted(sendID: "\(id)", isBinary: true).text) }
    bot.call { $0.channelOpened(4, label: "1", isOpenedByPeer: false, now: $1) }
    bot.call { $0.channelNotOpened(label: "3", reason: "There are too many.", now: $1) }
    bot.call { $0.channelOpened(6, label: "4", isOpenedByPeer: false, now: $1) }
    #expect(bot.failed == [three: .channelNotOpened(reason: "There are too many.")])
    while bot.advance(by: .seconds(59)) {}
    #expect(bot.failed.count == 1)
    while bot.advance(by: .seconds(2)) {}
    #expect(bot.failed[one] == .idle(seconds: 60) && bot.failed[two] == .idle(seconds: 60))
    #expect(bot.failed[four] == nil)
    while bot.advance(by: .seconds(600)) {}
    #expect(bot.failed[four] == .notAnswered(seconds: 300) && bot.failed[five] == .notAnswered(seconds: 600))
    #expect(bot.transfers.count == 0)
  }

  /// An owner that has accepted a file in the binary mode and sees its channel 2.
  func receiving(size: Int64) throws -> TransferOwner {
    var bot = TransferOwner()
    try bot.receive(DataMessage.fileOffer(FileOffer(name: "a", size: size, sendID: "ID", isBinary: true)).text)
    #expect(bot.sent == [.main(#"{"type":"__file","signal":"accept","sendId":"ID","binary":1}"#)])
    bot.call { $0.channelOpened(2, label: "ID", isOpenedByPeer: true, now: $1) }
    return bot
  }
}
