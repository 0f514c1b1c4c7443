import NIOCore
import NIOEmbedded
import TLS
import Testing

@Suite("TLS handler")
struct TLSHandlerTests {
  private let certificate: TestCertificate
  private let client: TLSContext
  private let server: TLSContext

  init() throws {
    certificate = try TestCertificate("a.example", names: ["DNS:a.example"])
    client = try TLSContext(trusting: .file(certificate.certificateFile))
    server = try TLSContext(certificateFile: certificate.certificateFile, keyFile: certificate.keyFile)
  }

  private func pair() throws -> TLSPair { try TLSPair(client: client, server: server) }

  @Test("data goes both ways in pieces of any size", arguments: [1, 3, 16_385, .max])
  func pieces(size: Int) throws {
    let pair = try pair().connect(chunk: size)
    #expect(pair.client.observer.handshakes == 1)
    #expect(pair.server.observer.handshakes == 1)
    let count = size < 100 ? 131_072 : 1_048_576
    let up = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
    let down = Array(up.reversed())
    let sent = [pair.client.write(up), pair.server.write(down)]
    try pair.carry(chunk: size)
    #expect(pair.server.observer.bytes == up)
    #expect(pair.client.observer.bytes == down)
    #expect(sent.map(\.isSuccess) == [true, true])
    #expect(pair.client.observer.errors + pair.server.observer.errors == [])
    #expect(pair.client.observer.readCompletes > 0)
  }

  @Test("TLS 1.2 and 1.3 are spoken, and nothing older", arguments: [true, false])
  func versions(isClientOld: Bool) throws {
    for (version, isAccepted) in [
      (TLSContext.Version.tlsv13, true), (.tlsv12, true), (.tlsv11, false), (.tlsv1, false),
    ] {
      let only = version...version
      let pair = try TLSPair(
        client: isClientOld ? TLSContext(trusting: .noVerification, versions: only) : client,
        server: isClientOld
          ? server
          : TLSContext(certificateFile: certificate.certificateFile, keyFile: certificate.keyFile, versions: only)
      ).connect()
      #expect(pair.client.observer.handshakes == (isAccepted ? 1 : 0))
      #expect(pair.server.observer.handshakes == (isAccepted ? 1 : 0))
      #expect(pair.client.observer.errors.count == (isAccepted ? 0 : 1))
      #expect(pair.server.observer.errors.count == (isAccepted ? 0 : 1))
    }
  }

  @Test("a write waits for the handshake, and for its flush")
  func writeBeforeHandshake() throws {
    let pair = try pair()
    let early = pair.client.write([1, 2, 3])
    #expect(early.result == nil)
    pair.server.observer.onHandshake = { context in
      context.writeAndFlush(NIOAny(ByteBuffer(bytes: [4, 5])), promise: nil)
    }
    try pair.connect(chunk: 7)
    #expect(early.isSuccess)
    #expect(pair.server.observer.bytes == [1, 2, 3])
    #expect(pair.client.observer.bytes == [4, 5])
  }

  @Test("writes fail with the reason of a handshake that failed")
  func writeOfFailedHandshake() throws {
    let pair = try TLSPair(client: client, server: server, host: "b.example")
    let early = pair.client.write([1])
    try pair.connect()
    #expect(pair.client.observer.errors.count == 1)
    #expect(early.error as? TLSError == pair.client.observer.errors.first)
    #expect(!pair.client.channel.isActive)
    let late = pair.client.write([2])
    #expect(late.error as? ChannelError == .ioOnClosedChannel)
  }

  @Test("close sends a close_notify and waits for that of the peer")
  func close() throws {
    let pair = try pair().connect()
    let closed = pair.client.close()
    #expect(closed.result == nil)
    #expect(pair.client.write([1]).error as? ChannelError == .ioOnClosedChannel)
    let again = pair.client.close()
    try pair.carry()
    #expect(closed.isSuccess)
    #expect(again.isSuccess)
    for side in [pair.client, pair.server] {
      #expect(side.observer.errors == [])
      #expect(side.observer.shutdowns == 1)
      #expect(side.observer.inactive == 1)
    }
  }

  @Test("without the peer's close_notify, the channel is closed after five seconds")
  func closeTimeout() throws {
    let pair = try pair().connect()
    let closed = pair.client.close()
    pair.client.channel.embeddedEventLoop.advanceTime(by: .milliseconds(4_999))
    #expect(closed.result == nil)
    pair.client.channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
    #expect(closed.isSuccess)
    #expect(pair.client.observer.errors == [])
    #expect(pair.client.observer.inactive == 1)
  }

  @Test(
    "after a close of the output, before or after the handshake, the peer's data is still read",
    arguments: [true, false])
  func closeOutput(isEarly: Bool) throws {
    let pair = try pair()
    pair.server.channel.allowRemoteHalfClosure = true
    try pair.server.connect()
    try pair.client.connect()
    if !isEarly { try pair.carry() }
    let sent = pair.client.write([1])
    let closed = pair.client.close(.output)
    #expect(pair.client.write([2]).error as? ChannelError == .outputClosed)
    try pair.carry()
    #expect(sent.isSuccess)
    #expect(closed.isSuccess)
    #expect(pair.client.output.count == 1)
    #expect(pair.server.observer.bytes == [1])
    #expect(pair.server.observer.inputCloses == 1)
    _ = pair.server.write([3, 4])
    try pair.carry()
    #expect(pair.client.observer.bytes == [3, 4])
    let ended = pair.server.close()
    #expect(ended.isSuccess)
    try pair.carry()
    for side in [pair.client, pair.server] {
      #expect(side.observer.errors == [])
      #expect(side.observer.shutdowns == 1)
      #expect(side.observer.inactive == 1)
    }
  }

  @Test("the end of TCP in one direction is a truncation, once")
  func inputClosed() throws {
    let pair = try pair().connect()
    pair.client.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    #expect(pair.client.observer.errors == [.truncated])
    #expect(pair.client.observer.inputCloses == 1)
    let closed = pair.client.close()
    #expect(closed.isSuccess)
    #expect(pair.client.observer.errors == [.truncated])
  }

  @Test("data that waits while a session ticket has arrived in part is sent afterwards")
  func writeWithinTicket() throws {
    let pair = try pair()
    try pair.server.connect()
    try pair.client.connect()
    for _ in 0..<3 {
      try pair.client.collect()
      pair.server.receive(pair.client.sent)
      pair.client.sent = ByteBuffer()
      try pair.server.collect()
      if pair.client.observer.handshakes == 1 { break }
      pair.client.receive(pair.server.sent)
      pair.server.sent = ByteBuffer()
    }
    // What remains are the session tickets.
    var tickets = pair.server.sent
    pair.server.sent = ByteBuffer()
    #expect(tickets.readableBytes > 100)
    let data = [UInt8](repeating: 9, count: 40_000)
    var outcomes: [Outcome] = []
    while let piece = tickets.readSlice(length: min(20, tickets.readableBytes)), piece.readableBytes > 0 {
      pair.client.receive(piece)
      outcomes.append(pair.client.write(data))
    }
    try pair.carry()
    #expect(pair.server.observer.bytes.count == outcomes.count * data.count)
    let isComplete = outcomes.allSatisfy { $0.isSuccess }
    #expect(isComplete)
    #expect(pair.client.observer.errors == [])
  }

  @Test("the end without a close_notify is a truncation")
  func truncation() throws {
    let pair = try pair().connect()
    pair.client.cut()
    #expect(pair.client.observer.errors == [.truncated])
    #expect(pair.client.observer.inactive == 1)
    #expect("\(TLSError.truncated)" == "The TLS connection was cut off: the peer ended it without a close_notify.")
  }

  @Test("the end during the handshake is reported as such")
  func endDuringHandshake() throws {
    let pair = try pair()
    let early = pair.client.write([1])
    try pair.client.connect()
    pair.client.cut()
    #expect(pair.client.observer.errors == [.endedDuringHandshake])
    #expect(early.error as? TLSError == .endedDuringHandshake)
    #expect(
      "\(TLSError.endedDuringHandshake)"
        == "The TLS handshake failed: the peer closed the connection before the handshake was complete.")
  }

  @Test("a peer that never answers can be closed, and fails what waits")
  func silentPeer() throws {
    let pair = try pair()
    let early = pair.client.write([1])
    try pair.client.connect()
    pair.client.channel.embeddedEventLoop.advanceTime(by: .hours(1))
    #expect(pair.client.channel.isActive)
    let closed = pair.client.close()
    #expect(closed.isSuccess)
    #expect(early.error as? ChannelError == .ioOnClosedChannel)
    #expect(pair.client.observer.errors == [])
    #expect(pair.client.observer.inactive == 1)
  }

  @Test("a reader may close the channel while it is given data")
  func closeInRead() throws {
    let pair = try pair().connect()
    pair.server.observer.onRead = { $0.close(promise: nil) }
    _ = pair.client.write([UInt8](repeating: 7, count: 300_000))
    try pair.carry()
    // After the close it is given nothing more.
    #expect(pair.server.observer.bytes.count < 300_000)
    #expect(pair.server.observer.inactive == 1)
    #expect(pair.client.observer.inactive == 1)
    #expect(pair.client.observer.errors + pair.server.observer.errors == [])
  }

  @Test("a reader may close the channel when the handshake completes")
  func closeInHandshake() throws {
    let pair = try pair()
    pair.client.observer.onHandshake = { $0.close(promise: nil) }
    pair.server.observer.onHandshake = { $0.close(promise: nil) }
    try pair.connect()
    #expect(pair.client.observer.inactive == 1)
    #expect(pair.server.observer.inactive == 1)
    #expect(pair.client.observer.errors + pair.server.observer.errors == [])
  }

  @Test("what a reader answers keeps its order")
  func echo() throws {
    let pair = try pair().connect()
    var count: UInt8 = 0
    pair.server.observer.onRead = { context in
      for _ in 0..<3 {
        count += 1
        context.writeAndFlush(NIOAny(ByteBuffer(bytes: [count])), promise: nil)
      }
    }
    for byte in 0..<20 {
      _ = pair.client.write([UInt8(byte)])
      try pair.carry(chunk: 5)
    }
    #expect(pair.server.observer.bytes == Array(0..<20))
    #expect(pair.client.observer.bytes == Array(1...60))
  }

  @Test("bytes that are not TLS fail the handshake, and say so")
  func plainText() throws {
    let pair = try pair()
    try pair.client.connect()
    pair.client.receive(ByteBuffer(string: "HTTP/1.1 400 Bad Request\r\n\r\n"))
    #expect(pair.client.observer.errors == [.handshakeFailed("what arrived is not TLS")])
    try pair.server.connect()
    pair.server.receive(ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n"))
    #expect(pair.server.observer.errors == [.handshakeFailed("what arrived is not TLS")])
    #expect(!pair.server.channel.isActive)
  }

  @Test("changed bytes end the connection with at most one error", arguments: [true, false])
  func mutations(isHandshake: Bool) throws {
    var random = Generator(state: isHandshake ? 1 : 2)
    // A handshake costs 2 ms.
    for _ in 0..<(isHandshake ? 400 : 200) {
      let pair = try pair()
      if !isHandshake { try pair.connect() }
      try pair.server.connect()
      try pair.client.connect()
      _ = pair.client.write((0..<200).map { UInt8($0) })
      for _ in 0..<6 {
        for (from, to) in [(pair.client, pair.server), (pair.server, pair.client)] {
          try from.collect()
          var bytes = Array(buffer: from.sent)
          from.sent = ByteBuffer()
          if bytes.isEmpty { continue }
          if random.next() % 2 == 0 {
            for _ in 0...random.next() % 3 {
              bytes[Int(random.next() % UInt64(bytes.count))] = UInt8.random(in: 0...255, using: &random)
            }
          }
          to.receive(ByteBuffer(bytes: bytes))
        }
      }
      for side in [pair.client, pair.server] {
        #expect(side.observer.errors.count <= 1)
        side.cut()
      }
    }
  }

  @Test("10,000 openings of random bytes and of changed hellos never trap")
  func garbage() throws {
    var random = Generator(state: 3)
    let opening = try pair()
    try opening.client.connect()
    try opening.client.collect()
    let hello = Array(buffer: opening.client.sent)
    for turn in 0..<10_000 {
      var bytes = hello
      if turn % 4 == 0 {
        bytes = (0..<Int(random.next() % 600)).map { _ in UInt8.random(in: 0...255, using: &random) }
      } else {
        for _ in 0...random.next() % 8 {
          bytes[Int(random.next() % UInt64(bytes.count))] = UInt8.random(in: 0...255, using: &random)
        }
        bytes.removeLast(turn % 3 == 0 ? Int(random.next() % UInt64(bytes.count)) : 0)
      }
      let session = try TLSSession(server: server)
      session.receive(ByteBuffer(bytes: bytes))
      let progress = session.handshake()
      #expect(progress != .done)
    }
  }

  private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ state >> 29
    }
  }
}
