import Media
import NIOCore
import NetworkEmulation
import SCTP
import TestSupport
import Testing

@Suite("Data channels")
struct DataChannelTests {
  @Test("a channel is announced with all its properties, acknowledged, and carries text and binary both ways")
  func openAndSend() throws {
    var pair = DataChannelPair.connected()
    let configuration = DataChannelConfiguration(
      label: "chat – ü", subprotocol: "json", isOrdered: false, reliability: .lifetime(milliseconds: 500),
      priority: 512)
    let id = try pair.left.open(configuration, now: pair.now)
    try pair.left.send(.text("hello"), on: id, now: pair.now)
    try pair.left.send(.text(""), on: id, now: pair.now)
    try pair.left.send(.binary(ByteBuffer()), on: id, now: pair.now)
    pair.run(.seconds(1))
    #expect(id == 0)
    #expect(pair.leftEvents == [.bufferedAmountLow(0), .opened(0)])
    #expect(
      pair.rightEvents == [
        .openedByPeer(0, configuration), .message(0, .text("hello")), .message(0, .text("")),
        .message(0, .binary(ByteBuffer())),
      ])
    try pair.right.send(.binary(payload(9_000, number: 1)), on: 0, now: pair.now)
    pair.run(.seconds(1))
    #expect(pair.leftEvents.last == .message(0, .binary(payload(9_000, number: 1))))
    #expect(pair.right[0]?.bytesSent == 9_000 && pair.left[0]?.bytesReceived == 9_000)
  }

  @Test("the DTLS client opens channels with even ids, the server with odd ones, at the same time and with loss")
  func ids() throws {
    var pair = DataChannelPair.connected(.init(loss: 0.2, delay: .milliseconds(10)), seed: 3)
    for number in 0..<20 {
      let left = try pair.left.open(.init(label: "l\(number)"), now: pair.now)
      let right = try pair.right.open(.init(label: "r\(number)"), now: pair.now)
      #expect(Int(left) == 2 * number && Int(right) == 2 * number + 1)
    }
    #expect(
      pair.run(.seconds(60)) {
        $0.left.openChannels.count { $0.state == .open } == 40
          && $0.right.openChannels.count { $0.state == .open } == 40
      })
    #expect(pair.right[6]?.configuration.label == "l3" && pair.left[7]?.configuration.label == "r3")
  }

  @Test("a negotiated channel needs no announcement")
  func negotiated() throws {
    var pair = DataChannelPair()
    try pair.left.openNegotiated(.init(label: "n"), id: 100)
    try pair.right.openNegotiated(.init(label: "n"), id: 100)
    #expect(throws: DataChannelError.idInUse(100)) { try pair.right.openNegotiated(.init(), id: 100) }
    try pair.left.send(.text("early"), on: 100, now: pair.now)
    pair.left.connect(now: pair.now)
    pair.run(.seconds(2))
    #expect(pair.leftEvents == [.connected, .opened(100), .bufferedAmountLow(100)])
    #expect(pair.rightEvents == [.connected, .opened(100), .message(100, .text("early"))])
  }

  @Test("a closed channel delivers its messages first, closes on both sides, and its id is used again")
  func close() throws {
    var pair = DataChannelPair.connected(.init(loss: 0.1, delay: .milliseconds(10)), seed: 13)
    for round in 0..<10 {
      let id = try pair.left.open(.init(label: "round \(round)"), now: pair.now)
      #expect(id == 0)
      for number in 0..<20 { try pair.left.send(.binary(payload(2_000, number: number)), on: id, now: pair.now) }
      pair.left.close(id, now: pair.now)
      #expect(throws: DataChannelError.closing(id)) { try pair.left.send(.text("late"), on: id, now: pair.now) }
      #expect(pair.run(.seconds(60)) { $0.leftEvents.last == .closed(0) && $0.rightEvents.last == .closed(0) })
      #expect(pair.rightEvents.count == 22)
      #expect(pair.left.openChannels.isEmpty && pair.right.openChannels.isEmpty)
      pair.leftEvents = []
      pair.rightEvents = []
    }
  }

  @Test("both sides close a channel at the same time")
  func closeTogether() throws {
    var pair = DataChannelPair.connected()
    let id = try pair.left.open(.init(), now: pair.now)
    pair.run(.seconds(1))
    pair.left.close(id, now: pair.now)
    pair.right.close(id, now: pair.now)
    pair.run(.seconds(5))
    #expect(pair.leftEvents.last == .closed(id) && pair.rightEvents.last == .closed(id))
    #expect(pair.leftEvents.filter { $0 == .closed(id) }.count == 1)
  }

  @Test("falling to the threshold of waiting bytes is reported once")
  func bufferedAmountLow() throws {
    var pair = DataChannelPair.connected()
    let id = try pair.left.open(.init(), now: pair.now)
    pair.left.setBufferedAmountLowThreshold(10_000, of: id)
    pair.run(.seconds(1))
    for _ in 0..<20 { try pair.left.send(.binary(payload(10_000, number: 1)), on: id, now: pair.now) }
    #expect(pair.left.bufferedAmount(of: id) == 200_000)
    #expect(pair.run(.seconds(10)) { $0.rightEvents.count == 21 })
    #expect(pair.leftEvents.filter { $0 == .bufferedAmountLow(id) }.count == 1)
    #expect(pair.left.bufferedAmount(of: id) == 0)
  }

  @Test("channels beyond the limit are refused on both sides")
  func limits() throws {
    var pair = DataChannelPair.connected()
    for _ in 0..<200 {
      _ = try pair.left.open(.init(), now: pair.now)
      _ = try pair.right.open(.init(), now: pair.now)
    }
    pair.run(.seconds(10))
    #expect(pair.left.openChannels.count <= 256 && pair.right.openChannels.count <= 256)
    #expect(pair.left.counters.channelsRefused > 0)
    #expect(throws: DataChannelError.nameTooLong(bytes: 5_000, limit: 4_096)) {
      var transport = DataChannelTransport(role: .dtlsClient, now: .now)
      _ = try transport.open(.init(label: String(repeating: "x", count: 5_000)), now: .now)
    }
  }

  @Test("the end of the association closes all channels")
  func disconnect() throws {
    var pair = DataChannelPair.connected()
    let id = try pair.left.open(.init(), now: pair.now)
    pair.run(.seconds(1))
    try pair.left.send(.text("last"), on: id, now: pair.now)
    pair.left.shutdown(now: pair.now)
    pair.run(.seconds(5))
    #expect(pair.leftEvents.suffix(2) == [.closed(id), .disconnected(.shutDown)])
    #expect(pair.rightEvents.suffix(3) == [.message(id, .text("last")), .closed(id), .disconnected(.shutDown)])
    #expect(throws: DataChannelError.unknownChannel(id)) { try pair.left.send(.text("x"), on: id, now: pair.now) }
  }
}
