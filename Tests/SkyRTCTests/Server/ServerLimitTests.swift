import HTTPTransport
import Media
import NIOCore
import NIOPosix
import SkyRTC
import Testing

@Suite("SkyRTC server: limits", .timeLimit(.minutes(2)))
struct ServerLimitTests {
  /// Checks that the server still works for other clients.
  private func check(_ address: SkyRTCServer.Address) async throws {
    let (participant, _) = try await Participant.joined("check", at: address)
    await participant.close()
  }

  @Test(
    "messages that are not of the protocol are ignored",
    arguments: [
      "", "null", "{", "[]", "7", #"{"eventName":"__join","data":{"room":{}}}"#, #"{"eventName":"hello"}"#,
      #"{"eventName":"__offer","data":null}"#, #"{"eventName":"__ice_candidate","data":{"socketId":{}}}"#,
      String(repeating: "[", count: 200_000), "\u{0}\u{1}",
    ])
  func ignored(text: String) async throws {
    try await withServer { _, address in
      let participant = try await Participant.connect(to: address)
      participant.send(text: text)
      participant.socket.send(.binary(ByteBuffer(bytes: [0xFF, 0xFE, 0x00])))
      participant.send(.join(room: "1", former: nil))
      #expect(try await participant.next() != nil)
    }
  }

  @Test("a client that sends too many invalid messages is closed with the reason")
  func unusable() async throws {
    var limits = SkyRTCServer.Limits()
    limits.maximumUnusableMessages = 5
    try await withServer(limits: limits) { _, address in
      let (participant, _) = try await Participant.joined("1", at: address)
      for _ in 0..<6 { participant.send(text: "?") }
      #expect(
        await participant.socket.ended()
          == .closedByPeer(code: 1008, reason: "6 messages were not of the SkyRTC protocol."))
      try await check(address)
    }
  }

  @Test("a message of 256 KiB passes, and a larger one closes the connection with code 1009")
  func messageSize() async throws {
    try await withServer { _, address in
      let (first, firstID) = try await Participant.joined("1", at: address)
      let (second, secondID) = try await Participant.joined("1", at: address)
      _ = try await first.next()
      let empty = ClientMessage.signal(.mark(""), to: firstID).text.utf8.count
      let sdp = String(repeating: "x", count: 256 * 1024 - empty)
      second.send(.signal(.mark(sdp), to: firstID))
      #expect(try await first.next() == .signal(.mark(sdp), from: secondID))
      second.send(.signal(.mark(sdp + "x"), to: firstID))
      let ending = await second.socket.ended()
      guard case .closedByPeer(code: 1009, _) = ending else {
        Issue.record("The server ended with: \(ending)")
        return
      }
      #expect(try await first.next() == .left(secondID))
    }
  }

  @Test("a room too many, a long name and a full room close the connection with the reason")
  func rooms() async throws {
    var limits = SkyRTCServer.Limits()
    limits.maximumRooms = 2
    limits.maximumUsersPerRoom = 2
    try await withServer(limits: limits) { server, address in
      func rejection(_ room: String) async throws -> WebSocketCloseReason {
        let participant = try await Participant.connect(to: address)
        participant.send(.join(room: room, former: nil))
        return await participant.socket.ended()
      }
      let (first, _) = try await Participant.joined("1", at: address)
      let (second, _) = try await Participant.joined("1", at: address)
      let (third, _) = try await Participant.joined(String(repeating: "ü", count: 128), at: address)
      #expect(
        try await rejection("1") == .closedByPeer(code: 1008, reason: "The room is full: it holds 2 participants."))
      #expect(
        try await rejection(String(repeating: "ü", count: 129))
          == .closedByPeer(code: 1008, reason: "A room's name may have 128 characters, but this one has 129."))
      #expect(
        try await rejection("3")
          == .closedByPeer(code: 1008, reason: "There are 2 rooms already, and no more are opened."))
      #expect(await server.participants(in: "1").count == 2)
      for participant in [first, second, third] { await participant.close() }
    }
  }

  @Test("connections beyond the limit are closed at once, and new ones are admitted after others end")
  func connections() async throws {
    var limits = SkyRTCServer.Limits()
    limits.maximumConnections = 2
    try await withServer(limits: limits) { _, address in
      let (first, _) = try await Participant.joined("1", at: address)
      let (second, _) = try await Participant.joined("1", at: address)
      await #expect(throws: WebSocketConnectError.self) { try await Participant.connect(to: address) }
      await first.close()
      try await check(address)
      await second.close()
    }
  }

  /// An address of this machine that is not a loopback address.
  private static let outerAddress = try? System.enumerateDevices().lazy.compactMap(\.address)
    .first { $0.protocol == .inet && $0.ipAddress?.hasPrefix("127.") == false }?.ipAddress

  @Test(
    "connections from one address beyond its limit are closed at once, others are not, and new ones are admitted later",
    .enabled(if: outerAddress != nil, "this machine has only loopback addresses"))
  func connectionsFromOneAddress() async throws {
    let outer = try #require(Self.outerAddress)
    var limits = SkyRTCServer.Limits()
    limits.maximumConnectionsPerAddress = 2
    try await withServer(host: "0.0.0.0", limits: limits) { _, local in
      var address = local
      address.host = outer
      let (first, _) = try await Participant.joined("1", at: address)
      let (second, _) = try await Participant.joined("1", at: address)
      await #expect(throws: WebSocketConnectError.self) { try await Participant.connect(to: address) }
      let (neighbour, _) = try await Participant.joined("1", at: local)
      await first.close()
      try await check(address)
      for participant in [second, neighbour] { await participant.close() }
    }
  }

  @Test("a client that floods the server with messages is closed")
  func flood() async throws {
    var limits = SkyRTCServer.Limits()
    limits.maximumMessageBurst = 20
    limits.maximumMessagesPerSecond = 10
    try await withServer(limits: limits) { _, address in
      let (first, firstID) = try await Participant.joined("1", at: address)
      let (flooder, flooderID) = try await Participant.joined("1", at: address)
      for _ in 0..<500 { flooder.send(.signal(.mark("x"), to: firstID)) }
      #expect(
        await flooder.socket.ended() == .closedByPeer(code: 1008, reason: "More than 10 messages a second arrived."))
      var relayed = 0
      while let message = try await first.next(), message != .left(flooderID) { relayed += 1 }
      #expect(relayed < 60)
    }
  }

  /// Joins a participant to the room of `first` and then stops reading for it.
  private func slowReader(
    inRoomOf first: Participant, at address: SkyRTCServer.Address
  ) async throws -> (RawConnection, id: String) {
    let slow = try await RawConnection.connect(to: address.port, receiveBuffer: 65_536)
    slow.send(RawConnection.upgrade)
    slow.send(Self.maskedText(#"{"eventName":"__join","data":{"room":"1"}}"#))
    guard case .joined(let slowID, _)? = try await first.next() else { throw Participant.Surprise.noWelcome }
    try await slow.channel.setOption(.autoRead, value: false).get()
    return (slow, slowID)
  }

  @Test("a client that does not read is dropped when too many bytes wait for it, and the others continue")
  func slowReader() async throws {
    var limits = SkyRTCServer.Limits()
    // It would also be dropped for answering no ping.
    limits.pingInterval = .seconds(600)
    limits.maximumOutgoingBytes = 64 * 1024
    (limits.maximumMessageBurst, limits.maximumFrameBurst, limits.maximumJoinBurst) = (1 << 30, 1 << 30, 1 << 30)
    limits.maximumByteBurst = 1 << 30
    try await withServer(limits: limits) { server, address in
      let (first, _) = try await Participant.joined("1", at: address)
      let (slow, slowID) = try await slowReader(inRoomOf: first, at: address)
      // Fills the kernel's buffers.
      let sdp = String(repeating: "x", count: 10_000)
      for _ in 0..<2_000 { try await first.socket.send(text: ClientMessage.signal(.mark(sdp), to: slowID).text) }
      // Each change of the room is sent to the client that does not read.
      var changes = 0
      while await server.participants(in: "1").contains(slowID), changes < 100_000 {
        for room in (0..<200).map({ $0.isMultiple(of: 2) ? "2" : "1" }) {
          first.send(.join(room: room, former: nil))
          _ = try await first.next()
          changes += 1
        }
      }
      #expect(changes < 100_000)
      await slow.close()
      try await check(address)
    }
  }

  @Test("signals for a client that reads too slowly are skipped and do not get it dropped")
  func signalsForSlowReader() async throws {
    var limits = SkyRTCServer.Limits()
    // It would also be dropped for answering no ping.
    limits.pingInterval = .seconds(600)
    limits.maximumMessageBurst = 10_000
    limits.maximumByteBurst = 1 << 30
    try await withServer(limits: limits) { server, address in
      let (first, firstID) = try await Participant.joined("1", at: address)
      let (slow, slowID) = try await slowReader(inRoomOf: first, at: address)
      let sdp = String(repeating: "x", count: 200_000)
      for _ in 0..<100 { try await first.socket.send(text: ClientMessage.signal(.mark(sdp), to: slowID).text) }
      let (second, secondID) = try await Participant.joined("1", at: address)
      first.send(.signal(.mark("all was handled"), to: secondID))
      while try await second.nextText()?.contains("all was handled") == false {}
      second.send(.signal(.mark("from another"), to: slowID))
      second.send(.signal(.mark("all was handled"), to: firstID))
      while try await first.nextText()?.contains("all was handled") == false {}
      #expect(await server.participants(in: "1").contains(slowID))
      // When it reads again, it receives some signals of the first participant and all signals of the second.
      try await slow.channel.setOption(.autoRead, value: true).get()
      let read = await slow.text(upTo: "from another")
      #expect(read.contains("from another"))
      #expect(read.utf8.count < 50 * sdp.utf8.count)
      await slow.close()
    }
  }

  @Test("a client that sends a close frame and does not read is closed")
  func goodbyeOfSlowReader() async throws {
    var limits = SkyRTCServer.Limits()
    // It would also be dropped for answering no ping.
    limits.pingInterval = .seconds(600)
    limits.maximumConnections = 2
    limits.maximumMessageBurst = 10_000
    limits.maximumByteBurst = 1 << 30
    limits.closeTimeout = .milliseconds(200)
    try await withServer(limits: limits) { _, address in
      let (first, _) = try await Participant.joined("1", at: address)
      let (slow, slowID) = try await slowReader(inRoomOf: first, at: address)
      let sdp = String(repeating: "x", count: 200_000)
      for _ in 0..<100 { try await first.socket.send(text: ClientMessage.signal(.mark(sdp), to: slowID).text) }
      slow.send([0x88, 0x80, 0, 0, 0, 0])
      #expect(try await first.next() == .left(slowID))
      // Another connection is admitted as soon as this one is closed.
      let deadline = ContinuousClock.now + .seconds(20)
      var another: Participant?
      while another == nil, ContinuousClock.now < deadline {
        another = try? await Participant.connect(to: address)
        try await MultiThreadedEventLoopGroup.singleton.any().sleep(for: .milliseconds(20))
      }
      #expect(another != nil)
      await another?.close()
      await slow.close()
    }
  }

  @Test("a client that joins rooms too often is dropped")
  func changesOfRoom() async throws {
    var limits = SkyRTCServer.Limits()
    limits.maximumJoinBurst = 5
    limits.maximumJoinsPerSecond = 1
    try await withServer(limits: limits) { _, address in
      let (first, _) = try await Participant.joined("0", at: address)
      for room in 1..<30 { first.send(.join(room: "\(room)", former: nil)) }
      #expect(
        await first.socket.ended() == .closedByPeer(code: 1008, reason: "More than 1 rooms a second were joined."))
      try await check(address)
    }
  }

  @Test("a dead connection ends after the ping timeout")
  func deadConnection() async throws {
    var limits = SkyRTCServer.Limits()
    limits.pingInterval = .milliseconds(200)
    limits.pingTimeout = .seconds(4)
    try await withServer(limits: limits) { _, address in
      let (first, _) = try await Participant.joined("1", at: address)
      let dead = try await RawConnection.connect(to: address.port)
      dead.send(RawConnection.upgrade)
      dead.send(Self.maskedText(#"{"eventName":"__join","data":{"room":"1"}}"#))
      guard case .joined(let deadID, _)? = try await first.next() else { throw Participant.Surprise.noWelcome }
      // The dead client answers no ping. The first participant does, and stays.
      #expect(try await first.next() == .left(deadID))
      try await check(address)
      await dead.close()
    }
  }

  @Test("a client that joins no room is closed")
  func joinTimeout() async throws {
    var limits = SkyRTCServer.Limits()
    limits.joinTimeout = .milliseconds(100)
    try await withServer(limits: limits) { _, address in
      let participant = try await Participant.connect(to: address)
      #expect(
        await participant.socket.ended()
          == .closedByPeer(code: 1008, reason: "No room was joined within 0.1 seconds."))
    }
  }

  @Test("random bytes after the upgrade do not crash the server")
  func randomFrames() async throws {
    var limits = SkyRTCServer.Limits()
    limits.closeTimeout = .milliseconds(50)
    try await withServer(limits: limits) { _, address in
      for seed in 0..<60 {
        let raw = try await RawConnection.connect(to: address.port)
        raw.send(RawConnection.upgrade)
        if seed % 3 == 0 {
          raw.send((0..<300).map { _ in UInt8.random(in: 0...255) })
        } else if seed % 3 == 1 {
          // A valid frame with a wrong bit in its first two bytes.
          var frame = Self.maskedText(#"{"eventName":"__join"}"#)
          frame[seed % 2] ^= 1 << UInt8.random(in: 0...7)
          raw.send(frame)
        } else {
          // Frames of random kinds, masked or not.
          for _ in 0..<20 {
            let length = UInt8.random(in: 0...125)
            raw.send([UInt8.random(in: 0...255), UInt8.random(in: 0...1) << 7 | length])
            raw.send((0..<Int(length) + 4).map { _ in UInt8.random(in: 0...255) })
          }
        }
        await raw.close()
      }
      try await check(address)
    }
  }

  @Test(
    "a violation of the WebSocket protocol is answered with its close code",
    arguments: [
      ([0x81, 0x01, 0x61], 1002), ([0xC1, 0x80, 0, 0, 0, 0], 1002), ([0x83, 0x80, 0, 0, 0, 0], 1002),
      ([0x80, 0x80, 0, 0, 0, 0], 1002), ([0x09, 0x80, 0, 0, 0, 0], 1002), ([0x89, 0xFE, 0x00, 0x7E, 0, 0, 0, 0], 1002),
      ([0x81, 0x81, 0, 0, 0, 0, 0xFF], 1007), ([0x88, 0x81, 0, 0, 0, 0, 3], 1002),
      ([0x82, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0], 1009),
      ([0x82, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0], 1009),
      ([0x82, 0xFF, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0, 0], 1009),
    ] as [([UInt8], UInt16)])
  func violations(bytes: [UInt8], code: UInt16) async throws {
    var limits = SkyRTCServer.Limits()
    limits.closeTimeout = .milliseconds(100)
    try await withServer(limits: limits) { _, address in
      let raw = try await RawConnection.connect(to: address.port)
      raw.send(RawConnection.upgrade)
      raw.send(bytes)
      let all = await raw.everything()
      let end = try #require(all.split(separator: [13, 10, 13, 10], maxSplits: 1).last.map(Array.init))
      #expect(end.first == 0x88)
      #expect(end.dropFirst(2).prefix(2).elementsEqual([UInt8(code >> 8), UInt8(code & 0xFF)]))
      try await check(address)
    }
  }

  /// Returns a text frame of up to 125 bytes with a mask of zeros.
  private static func maskedText(_ text: String) -> [UInt8] {
    [0x81, 0x80 | UInt8(text.utf8.count), 0, 0, 0, 0] + Array(text.utf8)
  }
}
