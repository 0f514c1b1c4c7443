import DataMessages
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Files in chunks of the page")
struct ChunkTransferTests {
  static let sizes = [0, 1, 2, 3, 725, 726, 727, 749, 750, 751, 1_477, 1_500, 65_536, 100_000]

  @Test("a file sent to the page is received whole, in messages that the page expects", arguments: sizes)
  func sendToPage(size: Int) throws {
    let file = bytes(size, seed: UInt64(size))
    var bot = TransferOwner()
    bot.readLimit = 1_000
    var page = OldPage()
    let start = bot.now
    let id = try bot.offer("a.png", file)
    while !bot.sent.isEmpty || bot.advance(by: .seconds(1)) {
      while !bot.sent.isEmpty {
        guard case .main(let text) = bot.sent.removeFirst() else {
          Issue.record("The page knows only its main channel.")
          return
        }
        for answer in try page.receive(text) { try bot.receive(answer) }
      }
    }
    #expect(page.received["ID"] == file)
    #expect(page.offers.map(\.name) == ["a.png"] && page.offers.map(\.size) == [size])
    #expect(bot.confirmed[id] == sha256(file) && bot.failed.isEmpty)
    #expect(bot.lastProgress[id] == Int64(size))
    // "data:image/png;base64," has 22 characters.
    let chunks = max(1, (22 + (size + 2) / 3 * 4 + 999) / 1_000)
    #expect(page.percents.count == chunks - 1)
    #expect(page.percents == page.percents.sorted() && page.percents.allSatisfy { (0...100).contains($0) })
    // The last call of `advance(by:)` adds a second.
    #expect(bot.now - start == .milliseconds(10) * (chunks - 1) + .seconds(1))
  }

  @Test("a data URL of exactly 1,000 or 2,000 characters has no empty last chunk", arguments: [729, 1_479])
  func fullLastChunk(size: Int) throws {
    var bot = TransferOwner()
    try bot.offer("a.pdf", bytes(size, seed: 1))
    try bot.receive(DataMessage.fileAccepted(sendID: "ID", isBinary: false).text)
    bot.sent = []
    while bot.advance(by: .seconds(1)) {}
    let lengths = try bot.sent.map { sent in
      guard case .main(let text) = sent, case .fileChunk(let chunk) = try DataMessage(parsing: text) else { return 0 }
      return chunk.data.utf8.count
    }
    #expect(lengths == [1_000, 1_000].suffix((size + 27) / 750))
  }

  @Test("a file of the page is received whole", arguments: sizes)
  func receiveFromPage(size: Int) throws {
    let file = bytes(size, seed: UInt64(size))
    var bot = TransferOwner()
    var page = OldPage()
    try bot.receive(page.offer("a.bin", file, mediaType: "text/plain;charset=utf-8", id: "0-AB"))
    guard case .main(let accept) = bot.sent.removeFirst() else { return }
    #expect(accept == #"{"type":"__file","signal":"accept","sendId":"0-AB"}"#)
    _ = try page.receive(accept)
    while true {
      let messages = page.tick()
      if messages.isEmpty { break }
      for message in messages { try bot.receive(message) }
      bot.now += .milliseconds(10)
    }
    let id = try #require(bot.created.keys.first)
    #expect(bot.created[id] == "a.bin")
    #expect(bot.written[id] ?? [] == file)
    #expect(bot.finished[id] == sha256(file))
    #expect(bot.sent.isEmpty && bot.transfers.count == 0 && bot.transfers.deadline == nil)
  }

  @Test("an empty file may have each data URL that browsers write for it")
  func emptyFile() throws {
    for data in ["data:", "data:;base64,", "data:application/octet-stream;base64,"] {
      var bot = TransferOwner()
      try bot.receive(ask(size: 0))
      try bot.receive(chunk(UntrustedText(data), isLast: true))
      #expect(bot.finished.values.first == sha256([]), "\(data)")
    }
  }

  @Test(
    "wrong chunks end the transfer with their reason, and the bytes before are kept",
    arguments: [
      (["data:;base64,QUJD", "RA=="], 3, FileTransferFailure.tooManyBytes(announced: 3), 3),
      (["data:;base64,QUJD", "!UJD"], 6, .invalidBase64(offset: 3), 3),
      (["data:;base64,QU=D"], 3, .invalidBase64(offset: 0), 0),
      (["data:;base64,QUI=", "QUJD"], 6, .invalidBase64(offset: 2), 2),
      (["data:;base64,QUJDR"], 4, .invalidBase64(offset: 3), 3),
      (["data:;base64,QUJD"], 4, .wrongSize(received: 3, announced: 4), 3),
      (["data:,ABC"], 3, .invalidDataURL, 0),
      (["http://x/;base64,QUJD"], 3, .invalidDataURL, 0),
      (["data:"], 3, .invalidDataURL, 0),
      ([String(repeating: "data:", count: 200)], 3, .invalidDataURL, 0),
    ])
  func wrongChunks(data: [String], size: Int, failure: FileTransferFailure, kept: Int64) throws {
    var bot = TransferOwner()
    try bot.receive(ask(size: size))
    for (index, part) in data.enumerated() {
      try bot.receive(chunk(UntrustedText(part), isLast: index == data.count - 1))
    }
    let end = try #require(bot.abandoned.values.first)
    #expect(end.failure == failure && end.bytes == kept)
    #expect(end.sha256 == sha256(Array("ABCD".utf8.prefix(Int(kept)))))
    #expect(bot.written.values.first?.count ?? 0 == Int(kept))
    #expect(failure.description.hasSuffix("."))
    // The rest of the chunks is ignored.
    try bot.receive(chunk("QUJD", isLast: false))
    #expect(bot.transfers.counters.messagesIgnored == 1 && bot.sent.count == 1)
  }

  @Test("a chunk without an accepted offer is ignored")
  func chunkWithoutAccept() throws {
    var bot = TransferOwner(FilePolicy(acceptsFiles: false))
    try bot.receive(chunk("data:;base64,QUJD", isLast: true))
    try bot.receive(ask(size: 3))
    try bot.receive(chunk("data:;base64,QUJD", isLast: true))
    #expect(bot.sent == [.main(DataMessage.fileRefused(sendID: "ID").text)])
    #expect(bot.written.isEmpty && bot.transfers.counters.messagesIgnored == 2)
  }

  @Test("a transfer without data for 60 s is abandoned, and chunks without data do not prolong it")
  func idle() throws {
    var bot = TransferOwner()
    try bot.receive(ask(size: 6))
    bot.now += .seconds(59)
    try bot.receive(chunk("data:;base64,QUJD", isLast: false))
    bot.now += .seconds(59)
    try bot.receive(chunk("", isLast: false))
    bot.call { $0.advance(now: $1) }
    #expect(bot.abandoned.isEmpty)
    bot.now += .seconds(1)
    bot.call { $0.advance(now: $1) }
    #expect(bot.abandoned.values.first?.failure == .idle(seconds: 60))
    #expect(bot.abandoned.values.first?.bytes == 3)
  }

  @Test("chunks wait while the main channel has more than 1 MiB to send, and stop after 60 s")
  func fullMainChannel() throws {
    var bot = TransferOwner()
    let id = try bot.offer("a.bin", bytes(5_000, seed: 1))
    try bot.receive(DataMessage.fileAccepted(sendID: "ID", isBinary: false).text)
    bot.sent = []
    bot.call { $0.advance(now: $1, mainBufferedAmount: 1 << 21) }
    #expect(bot.sent.isEmpty)
    bot.now += .milliseconds(10)
    bot.call { $0.advance(now: $1, mainBufferedAmount: 1 << 20) }
    #expect(bot.sent.count == 1)
    for _ in 0..<60 {
      bot.now += .seconds(1)
      bot.call { $0.advance(now: $1, mainBufferedAmount: 1 << 21) }
    }
    #expect(bot.failed[id] == .idle(seconds: 60) && bot.transfers.count == 0)
  }

  @Test("a file that has become shorter ends its transfer, and the receiver is told")
  func shorterFile() throws {
    var bot = TransferOwner()
    let id = try bot.offer("a.bin", bytes(5_000, seed: 1))
    bot.files[id] = bytes(100, seed: 1)
    try bot.receive(DataMessage.fileAccepted(sendID: "ID", isBinary: false).text)
    #expect(bot.failed[id] == .fileTooShort(bytes: 100, announced: 5_000))
    #expect(bot.sent.last == .main(DataMessage.fileClosed(sendID: "ID").text))
  }

  func ask(size: Int) -> String { DataMessage.fileOffer(FileOffer(name: "a", size: Int64(size), sendID: "ID")).text }

  func chunk(_ data: UntrustedText, isLast: Bool) -> String {
    DataMessage.fileChunk(FileChunk(sendID: "ID", data: data, isLast: isLast)).text
  }
}
