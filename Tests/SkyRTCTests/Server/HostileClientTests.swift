import HTTPTransport
import NIOCore
import NIOWebSocket
import Signalling
import SkyRTC
import TestSupport
import Testing

/// Clients that try to waste the resources of the server or of others.
@Suite("SkyRTC server: hostile clients", .timeLimit(.minutes(2)))
struct HostileClientTests {
  @Test("fragments of one byte are joined without copying the earlier ones")
  func fragments() throws {
    func join(_ count: Int) throws -> Duration {
      var assembler = WebSocketAssembler(side: .client, maximumBytes: 256 * 1024)
      _ = try assembler.received(
        WebSocketFrame(fin: false, opcode: .text, data: ByteBuffer(repeating: UInt8(ascii: "x"), count: 100_000)))
      let fragment = WebSocketFrame(fin: false, opcode: .continuation, data: ByteBuffer(string: "x"))
      return try ProcessorTime.measure { for _ in 0..<count { _ = try assembler.received(fragment) } }
    }
    let took = try join(100_000)
    print("measured: a fragment of one byte takes \(took / 100_000)")
    // Copying 100 kB each time took 60 µs.
    #expect(took < .seconds(1))
  }

  @Test("a client that exceeds the frame rate is closed")
  func frames() async throws {
    var limits = SkyRTCServer.Limits()
    limits.maximumFramesPerSecond = 10
    limits.maximumFrameBurst = 50
    try await withServer(limits: limits) { _, address in
      let raw = try await RawConnection.connect(to: address.port)
      raw.send(RawConnection.upgrade)
      // Empty continuation frames of a text message, masked by zeros.
      raw.send([0x01, 0x80, 0, 0, 0, 0])
      for _ in 0..<100 { raw.send([0x00, 0x80, 0, 0, 0, 0]) }
      let answer = await raw.everything()
      #expect(answer.suffix(100).contains { $0 == 0x88 }, "a close frame")
      #expect(String(decoding: answer, as: UTF8.self).contains("More than 10 frames a second arrived."))
    }
  }

  @Test("data after a frame that is too large is read and discarded, so that no reset loses the reason")
  func behindTooLargeFrame() async throws {
    var limits = SkyRTCServer.Limits()
    // Longer than the data takes on a busy machine.
    limits.closeTimeout = .seconds(5)
    try await withServer(limits: limits) { _, address in
      let raw = try await RawConnection.connect(to: address.port)
      raw.send(RawConnection.upgrade)
      // A binary message of 1 MiB, masked by zeros.
      raw.send([0x82, 0xFF, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0])
      for _ in 0..<20 {
        raw.send([UInt8](repeating: 0x7B, count: 10_000))
        try await Task.sleep(for: .milliseconds(20))
      }
      let isActive = raw.channel.isActive
      #expect(isActive, "the server continues to read")
      let answer = await raw.everything()
      #expect(answer.suffix(130).contains { $0 == 0x88 }, "a close frame")
    }
  }

  @Test("JSON with more values than the protocol has is rejected without decoding it")
  func manyValues() throws {
    let objects = #"{"eventName":"x","data":[\#(Array(repeating: "{}", count: 85_000).joined(separator: ","))]}"#
    #expect(objects.utf8.count > 250_000)
    let took = ProcessorTime.least(within: .milliseconds(20)) {
      #expect(throws: SignallingError.self) { try ClientMessage(parsing: objects) }
    }
    print("measured: 85,000 empty objects are rejected in \(took)")
    #expect(took < .milliseconds(20))
    let strings =
      #"{"eventName":"__offer","data":{"socketId":"a","sdp":"\#(String(repeating: "{[,\\\"", count: 20_000))"}}"#
    guard case .signal(.offer, to: "a") = try ClientMessage(parsing: strings) else {
      Issue.record("The contents of strings must not count.")
      return
    }
  }

  @Test("a candidate that exceeds the limit when relayed closes its sender, not its receiver")
  func doubling() async throws {
    try await withServer { server, address in
      let (victim, victimID) = try await Participant.joined("1", at: address)
      let (attacker, attackerID) = try await Participant.joined("1", at: address)
      #expect(try await victim.next() == .joined(attackerID))
      let mid = String(repeating: "m", count: 135_000)
      attacker.send(.signal(.candidate(.init(candidate: "candidate:1", mid: mid, mLineIndex: 0)), to: victimID))
      let ending = await attacker.socket.ended()
      guard case .closedByPeer(code: 1009, _) = ending else {
        Issue.record("The server ended with: \(ending)")
        return
      }
      #expect(try await victim.next() == .left(attackerID))
      #expect(await server.participants(in: "1") == [victimID])
    }
  }

  @Test("a client that exceeds the byte rate is closed")
  func bytes() async throws {
    var limits = SkyRTCServer.Limits()
    limits.maximumBytesPerSecond = 10_000
    limits.maximumByteBurst = 300_000
    try await withServer(limits: limits) { _, address in
      let (participant, _) = try await Participant.joined("1", at: address)
      for _ in 0..<10 { participant.send(.signal(.mark(String(repeating: "x", count: 100_000)), to: "nobody")) }
      #expect(
        await participant.socket.ended()
          == .closedByPeer(code: 1008, reason: "More than 10000 bytes a second arrived."))
    }
  }

  @Test("after an invalid close frame the connection ends at once")
  func invalidClose() async throws {
    var limits = SkyRTCServer.Limits()
    limits.closeTimeout = .seconds(30)
    try await withServer(limits: limits) { _, address in
      let raw = try await RawConnection.connect(to: address.port)
      raw.send(RawConnection.upgrade)
      let begin = ContinuousClock.now
      // Code 1005 must not be sent.
      raw.send([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xED])
      let answer = await raw.everything()
      #expect(Array(answer.suffix(60)).contains(0x88))
      // This once took the timeout for the other side's close frame.
      #expect(ContinuousClock.now - begin < .seconds(10))
    }
  }

  @Test("a page of another origin gets status 403, a request for another host 421")
  func origin() async throws {
    try await withServer { _, address in
      for (from, to, status) in [
        ("Host: localhost", "Host: localhost\r\nOrigin: https://evil.example", "403"),
        ("Host: localhost", "Host: evil.example", "421"),
        ("dGhlIHNhbXBsZSBub25jZQ==", "AAAA", "400"), ("HTTP/1.1", "HTTP/1.0", "400"),
      ] {
        let raw = try await RawConnection.connect(to: address.port)
        raw.send(RawConnection.upgrade.replacing(from, with: to))
        let answer = await raw.text()
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(to): \(answer.prefix(40))")
      }
    }
  }
}
