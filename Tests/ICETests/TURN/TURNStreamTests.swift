import ICE
import NIOCore
import TestSupport
import Testing

@Suite("TURN on streams")
struct TURNStreamTests {
  private static let frames: [ByteBuffer] = {
    var message = STUNMessage(.indication, method: .data, transactionID: STUNTransactionID(high: 1, low: 2))
    message.appendXorPeerAddress(address("192.0.2.1", 9))
    message.data = ByteBuffer(string: "hello")
    return [
      TURNChannelData.frame(ByteBuffer(string: "abcde"), channel: 0x4000, isPadded: true), written(message),
      TURNChannelData.frame(ByteBuffer(), channel: 0x4001, isPadded: true),
      written(STUNMessage(.success, transactionID: STUNTransactionID(high: 3, low: 4))),
      TURNChannelData.frame(ByteBuffer(string: "f"), channel: 0x4FFF, isPadded: true),
    ]
  }()

  private static func split(_ chunks: [ByteBuffer]) throws -> [ByteBuffer] {
    var splitter = TURNStreamSplitter()
    var frames: [ByteBuffer] = []
    for chunk in chunks {
      var chunk = chunk
      while let frame = try splitter.next(from: &chunk) { frames.append(frame) }
      #expect(chunk.readableBytes == 0)
    }
    #expect(splitter.buffered == 0)
    return frames
  }

  @Test("frames are the same whatever two byte boundaries cut the stream")
  func boundaries() throws {
    let stream = ByteBuffer(bytes: Self.frames.flatMap { Array($0.readableBytesView) })
    let bytes = Array(stream.readableBytesView)
    for first in 0...bytes.count {
      for second in first...bytes.count {
        let chunks = [bytes[..<first], bytes[first..<second], bytes[second...]].map { ByteBuffer(bytes: $0) }
        #expect(try Self.split(chunks) == Self.frames)
      }
    }
    #expect(try Self.split(bytes.map { ByteBuffer(bytes: [$0]) }) == Self.frames)
  }

  @Test(
    "other bytes are an error as soon as they arrive",
    arguments: [
      ("50", TURNStreamError.unknownFrame(firstByte: 0x50)), ("ff00", .unknownFrame(firstByte: 0xFF)),
      ("0001 0001", .unalignedMessage(length: 1)), ("0001 0000 2112a443", .wrongCookie(0x2112_A443)),
      ("4000 fffd", .frameTooLong(bytes: 65_540)), ("0001 fffc 2112a442", .frameTooLong(bytes: 65_552)),
    ])
  func errors(text: String, error: TURNStreamError) {
    let all = Array(bytes(text).readableBytesView)
    for chunks in [[all], all.map { [$0] }] {
      var splitter = TURNStreamSplitter()
      do throws(TURNStreamError) {
        for bytes in chunks {
          var chunk = ByteBuffer(bytes: bytes)
          _ = try splitter.next(from: &chunk)
        }
        Issue.record("\(text) is no error")
      } catch {
        #expect(error == error)
        #expect("\(error)".hasSuffix("."))
      }
    }
  }

  @Test("a frame that never ends keeps at most 64 KiB")
  func bounded() throws {
    var splitter = TURNStreamSplitter()
    var head = bytes("4000 fff8")
    _ = try splitter.next(from: &head)
    for _ in 0..<65 {
      var chunk = ByteBuffer(repeating: 0x40, count: 1_000)
      #expect(try splitter.next(from: &chunk) == nil)
      #expect(splitter.buffered <= TURNStreamSplitter.maximumFrame)
    }
    var chunk = ByteBuffer(repeating: 0x40, count: 528)
    #expect(try splitter.next(from: &chunk)?.readableBytes == 65_532)
  }

  @Test("a client on a stream allocates without retransmission and exchanges data on a channel")
  func wholeSession() {
    var path = TURNPath(transport: .stream)
    path.run(.seconds(1))
    #expect(path.allocations.count == 1)
    #expect(path.sent == 2)
    let peer = address("192.0.2.7")
    path.send("one", to: peer)
    path.run(.seconds(1))
    path.client.bindChannel(to: peer, now: path.now)
    path.run(.seconds(1))
    #expect(path.client.channel(of: peer, now: path.now) == 0x4000)
    path.send("two", to: peer)
    path.sendFromPeer("three", peer)
    path.run(.seconds(1))
    #expect(path.server.toPeers.map(\.payload) == [ByteBuffer(string: "one"), ByteBuffer(string: "two")])
    #expect(path.received.map(\.payload) == [ByteBuffer(string: "three")])
    #expect(path.server.violations.isEmpty)
  }

  @Test("a broken or closed connection is lost and opened again")
  func reconnects() {
    var path = TURNPath(transport: .stream)
    path.run(.seconds(1))
    path.closeConnection()
    #expect(path.losses == [.connectionClosed])
    path.run(.seconds(2))
    #expect(path.connections == [TURNPath.serverAddress])
    #expect(path.allocations.count == 2)
    path.inject(bytes("ff"))
    #expect(path.losses.last == .brokenStream(.unknownFrame(firstByte: 0xFF)))
    path.run(.seconds(3))
    #expect(path.allocations.count == 3)
  }

  @Test("a connection that cannot be opened is reported once and tried again")
  func cannotConnect() {
    var path = TURNPath(transport: .stream)
    path.isDown = true
    path.run(.milliseconds(1))
    for _ in 0..<5 {
      path.closeConnection()
      path.run(.seconds(20)) { $0.connections.count > 100 }
    }
    #expect(path.failures.contains(.connectionClosed))
    path.isDown = false
    path.run(.seconds(60)) { !$0.allocations.isEmpty }
    #expect(path.allocations.count == 1)
  }

  @Test("a connection whose certificate is not trusted is reported as such, and tried again")
  func certificate() {
    var path = TURNPath(transport: .stream)
    path.isDown = true
    path.run(.milliseconds(1))
    path.client.closed(because: "its certificate is not trusted", now: path.now)
    path.run(.milliseconds(1))
    #expect(path.failures == [.tlsFailed("its certificate is not trusted")])
    #expect(path.failures.last?.description == "TLS with the TURN server failed: its certificate is not trusted.")
    path.isDown = false
    path.run(.seconds(60)) { !$0.allocations.isEmpty }
    #expect(path.allocations.count == 1)
  }
}
