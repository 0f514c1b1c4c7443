import Foundation
import TestSupport
import Testing

/// Requests that the server must reject.
extension HostileAttack {
  static let requests = [foreign, openings, silence]

  private static let foreign = HostileAttack(name: "requests of foreign pages and for foreign hosts") { target, _ in
    for (from, to, status) in [
      ("Host: localhost", "Host: localhost\r\nOrigin: https://evil.example", 403),
      ("Host: localhost", "Host: localhost\r\nOrigin: null", 403),
      ("Host: localhost", "Host: localhost.evil.example\r\nOrigin: http://localhost.evil.example", 421),
      ("Host: localhost", "Host: evil.example", 421),
    ] { try await expect(status, from, to, target) }
  }

  private static let openings = HostileAttack(name: "invalid WebSocket upgrade requests") { target, _ in
    for (from, to, status) in [
      ("dGhlIHNhbXBsZSBub25jZQ==", "AAAA", 400), ("HTTP/1.1", "HTTP/1.0", 400), ("Host: localhost\r\n", "", 400),
      ("Host: localhost", "Host: localhost\r\nHost: localhost", 400),
      ("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", "", 400),
    ] { try await expect(status, from, to, target) }
    // The server may answer these as it likes.
    for (from, to) in [
      ("Upgrade: websocket", "Upgrade: \(Array(repeating: "x", count: 7_000).joined(separator: ","))"),
      ("Version: 13", "Version: 99"), ("GET /", "GET /../../../../etc/passwd"), ("GET", "BREW"),
      ("\r\n\r\n", "\r\n\(String(repeating: "x: y\r\n", count: 5_000))\r\n"), ("GET / HTTP/1.1", "\u{0}\u{1}\u{2}"),
    ] {
      let raw = try await RawConnection(to: target.server, in: target.network)
      defer { raw.close() }
      raw.send(RawConnection.upgrade.replacingOccurrences(of: from, with: to))
      try await sleepOnEventLoop(for: .milliseconds(30))
    }
  }

  private static let silence = HostileAttack(name: "incomplete connections") { target, generator in
    var generator = generator
    var connections: [RawConnection] = []
    defer { for raw in connections { raw.close() } }
    for _ in 0..<200 {
      let raw = try await RawConnection(to: target.server, in: target.network)
      raw.send(String(RawConnection.upgrade.prefix(Int.random(in: 0...80, using: &generator))))
      connections.append(raw)
    }
    try await sleepOnEventLoop(for: .milliseconds(300))
  }

  private static func expect(_ status: Int, _ from: String, _ to: String, _ target: HostileTarget) async throws {
    let raw = try await RawConnection(to: target.server, in: target.network)
    defer { raw.close() }
    raw.send(RawConnection.upgrade.replacingOccurrences(of: from, with: to))
    let answer = await raw.receivedText()
    // Empty if the time of the attack is over.
    #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 \(status) "), "\(to.debugDescription)")
  }
}
