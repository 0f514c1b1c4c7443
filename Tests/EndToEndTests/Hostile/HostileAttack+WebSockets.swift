import Foundation
import TestSupport
import Testing

/// Messages and frames that a WebSocket client must not send.
extension HostileAttack {
  static let webSockets = [fragments, messageFlood, byteFlood, unusable, forbiddenFrames]

  private static func joinFrame(_ target: HostileTarget) throws -> [UInt8] {
    let join: JSON = ["eventName": "__join", "data": ["room": .string(target.room)]]
    return RawConnection.frame(0x81, Array(try join.text.utf8))
  }

  private static let fragments = HostileAttack(name: "fragments of one byte after a large one") { target, _ in
    let raw = try await RawConnection(to: target.server, in: target.network)
    defer { raw.close() }
    raw.send(RawConnection.upgrade)
    raw.send(try joinFrame(target))
    raw.send(RawConnection.frame(0x01, Array(repeating: UInt8(ascii: "x"), count: 100_000)))
    let fragment = RawConnection.frame(0x00, [UInt8(ascii: "x")])
    for _ in 0..<100 { raw.send(Array(repeatElement(fragment, count: 100).joined())) }
    let answer = await raw.receivedText()
    #expect(Task.isCancelled || answer.contains("frames a second arrived"), "the server closes the connection")
  }

  private static let messageFlood = HostileAttack(name: "a flood of messages") { target, _ in
    let attacker = try await target.newcomer()
    defer { attacker.leave() }
    let candidate = try HostileDescription.candidate(
      "candidate:1 1 udp 1 127.0.0.2 5000 typ host", to: target.honest[0])
    for _ in 0..<4_500 { attacker.sendWithoutWaiting(candidate) }
    await attacker.ended()
  }

  private static let byteFlood = HostileAttack(name: "a flood of bytes") { target, _ in
    let attacker = try await target.newcomer()
    defer { attacker.leave() }
    let text = String(repeating: "candidate:1 ", count: 15_000)
    let candidate = try HostileDescription.candidate(text, to: target.honest[0])
    for _ in 0..<30 { attacker.sendWithoutWaiting(candidate) }
    await attacker.ended()
  }

  private static let unusable = HostileAttack(name: "messages that are not of the protocol") { target, generator in
    var generator = generator
    let attacker = try await target.newcomer()
    defer { attacker.leave() }
    let texts = [
      "", "{", "null", "[]", #"{"eventName":7}"#, #"{"eventName":"__offer","data":{"sdp":{},"socketId":[]}}"#,
      String(repeating: "[", count: 100_000),
      #"{"eventName":"_remove_peer","data":{"socketId":"\#(target.honest[0])"}}"#,
      #"{"eventName":"_new_peer","data":{"socketId":"\#(target.honest[0])"}}"#,
      #"{"eventName":"__join","data":{"room":{}}}"#, "\u{1B}[2J\u{0}\u{202E}",
    ]
    for _ in 0..<60 { attacker.sendWithoutWaiting(texts.randomElement(using: &generator) ?? "") }
    await attacker.ended()
  }

  private static let forbiddenFrames = HostileAttack(name: "forbidden frames") { target, generator in
    var generator = generator
    let noise = (0..<500).map { _ in UInt8.random(in: 0...255, using: &generator) }
    let frames: [[UInt8]] = [
      // Unmasked, reserved bits, unknown opcode, long ping, continuation without start, 2^63 bytes, invalid UTF-8.
      [0x81, 0x02, 0x7B, 0x7D], RawConnection.frame(0xF1, [1]), RawConnection.frame(0x8B, [1]),
      RawConnection.frame(0x89, Array(repeating: 0, count: 300)), RawConnection.frame(0x80, [1]),
      [0x81, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0],
      RawConnection.frame(0x81, [0xC3, 0x28]), RawConnection.frame(0x88, [0x03, 0xED]), noise,
    ]
    for frame in frames {
      let raw = try await RawConnection(to: target.server, in: target.network)
      defer { raw.close() }
      raw.send(RawConnection.upgrade)
      raw.send(try joinFrame(target))
      raw.send(frame)
      try await sleepOnEventLoop(for: .milliseconds(30))
    }
  }
}
