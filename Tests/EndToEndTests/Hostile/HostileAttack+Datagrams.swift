import TestSupport
import Testing

/// Datagrams to programs that receive media, and attempts to make them send datagrams to others.
extension HostileAttack {
  static let datagrams = [
    flood(name: "DTLS alerts and garbage", HostileDatagram.dtls),
    flood(name: "unsolicited STUN messages", HostileDatagram.stun),
    flood(name: "unencrypted RTP and RTCP", HostileDatagram.media), burst, tinyFrames, crossfire, wrongAnswers,
  ]

  /// Sends from one address as fast as the system takes it, in bursts with pauses, in which the program must catch up.
  private static let burst = HostileAttack(name: "tens of thousands of datagrams a second from one stranger") {
    target, generator in
    var generator = generator
    let position = try #require(target.positions[target.honest[0]])
    let kinds =
      HostileDatagram.dtls(using: &generator) + HostileDatagram.stun(using: &generator)
      + HostileDatagram.media(using: &generator)
    let datagrams = (0..<1_000).map { kinds[$0 % kinds.count] }
    let socket = try await HostileSocket(at: "127.0.0.1", in: target.network)
    defer { socket.close() }
    for _ in 0..<40 {
      try socket.send(datagrams, to: position)
      try await sleepOnEventLoop(for: .milliseconds(20))
    }
  }

  /// Frames of three bytes, and of none, on connections to the port of ICE over TCP.
  private static let tinyFrames = HostileAttack(name: "tiny frames on TCP connections") { target, _ in
    let tiny: [UInt8] = [0, 3, 1, 2, 3, 0, 0]
    let chunk = Array(repeating: tiny, count: 8_192).flatMap { $0 }
    for _ in 0..<10 {
      let connection = try await RawConnection(
        host: target.tcpPosition.address, port: target.tcpPosition.port, in: target.network)
      defer { connection.close() }
      for _ in 0..<20 { connection.send(chunk) }
      try await sleepOnEventLoop(for: .milliseconds(100))
    }
  }

  /// Sends some thousand datagrams a second from many loopback addresses: as many as those of the calls.
  private static func flood(
    name: String, _ datagrams: @escaping @Sendable (inout SeededGenerator) -> [[UInt8]]
  ) -> HostileAttack {
    HostileAttack(name: name, limit: .seconds(1)) { target, generator in
      var generator = generator
      let position = try #require(target.positions[target.honest[0]])
      while true {
        let address = "127.0.0.\(Int.random(in: 1...50, using: &generator))"
        let socket = try await HostileSocket(at: address, in: target.network)
        defer { socket.close() }
        for _ in 0..<4 {
          try socket.send(datagrams(&generator) + datagrams(&generator), to: position)
          try await sleepOnEventLoop(for: .milliseconds(10))
        }
      }
    }
  }

  /// The candidates are the addresses of all honest programs, so that they check each other for the attacker.
  private static let crossfire = HostileAttack(name: "candidates of other participants") { target, _ in
    let attacker = try await target.newcomer()
    defer { attacker.leave() }
    let positions = target.positions.values.sorted { $0.port < $1.port }
    let candidates = positions.enumerated().map { number, position in
      "a=candidate:\(number) 1 udp 2130706431 \(position.address) \(position.port) typ host\r\n"
    }
    for victim in target.honest {
      await attacker.send([try HostileDescription.offer(HostileDescription.video + candidates.joined(), to: victim)])
    }
    try await sleepOnEventLoop(for: .seconds(1))
  }

  /// The attacker receives at its candidates' address, and answers checks with an echo and with noise.
  private static let wrongAnswers = HostileAttack(name: "checks answered with noise") { target, generator in
    var generator = generator
    let answers =
      HostileDatagram.dtls(using: &generator) + HostileDatagram.stun(using: &generator)
      + HostileDatagram.media(using: &generator)
    let socket = try await HostileSocket(at: "127.0.0.1", in: target.network, answers: answers)
    defer { socket.close() }
    let attacker = try await target.newcomer()
    defer { attacker.leave() }
    let candidate = "a=candidate:1 1 udp 2130706431 127.0.0.1 \(socket.port) typ host\r\n"
    for victim in target.honest {
      await attacker.send([try HostileDescription.offer(HostileDescription.video + candidate, to: victim)])
    }
    try await sleepOnEventLoop(for: .seconds(1))
    #expect(socket.received > 0, "a program checks that address")
  }
}
