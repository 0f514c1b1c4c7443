import ICE
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Random and damaged input")
struct FuzzTests {
  @Test("100,000 damaged or random datagrams cause no trap, and those that parse are written back byte for byte")
  func datagrams() throws {
    var generator = SeededGenerator(seed: 2026)
    var agent = agent(.controlled, Known.leftCredentials, hosts: [Known.left])
    var now = MonotonicInstant.now
    agent.know(Known.rightCredentials, now: now)
    var gatherer = ServerReflexiveGatherer(
      base: Known.left, servers: [Known.right], now: now, generator: SeededGenerator(seed: 3))
    let asked = gatherer.poll(now: now)
    guard case .send(let gathererRequest, _)? = asked.first else {
      Issue.record("The gatherer sent no request.")
      return
    }
    let seeds = Self.seeds + [gathererRequest]
    var parsed = 0
    for round in 0..<100_000 {
      let datagram = Self.damage(seeds, using: &generator)
      // Two changes can cancel each other.
      if seeds.contains(datagram) { continue }
      _ = STUNRouting(datagram)
      if let message = try? STUNMessage(parsing: datagram) {
        parsed += 1
        var written = ByteBuffer()
        message.write(into: &written)
        if written != datagram { Issue.record("round \(round): \(datagram) was written back as \(written)") }
        _ = (message.username, message.xorMappedAddress, message.mappedAddress, message.errorCode)
        _ = (message.unknownAttributes, message.priority, message.iceControlled, message.software)
      }
      _ = agent.received(datagram, from: Known.right, to: Known.left, now: now)
      _ = gatherer.received(datagram, from: Known.right, now: now)
      if round % 100 == 0 {
        _ = agent.poll(now: now)
        now += .milliseconds(10)
      }
    }
    #expect(parsed > 10_000)
    #expect(agent.selectedPair == nil)
    #expect(!agent.isValidated(local: Known.left, remote: Known.right))
  }

  @Test("50,000 damaged texts trap no candidate, address or URL parser, and those that parse are written back")
  func texts() {
    var generator = SeededGenerator(seed: 7)
    let seeds = [
      "candidate:991317585 1 udp 2122260223 127.0.0.1 57747 typ host generation 0 ufrag p/CY network-id 1",
      "candidate:3 1 udp 41885439 2001:db8::1 50000 typ relay raddr 203.0.113.7 rport 40001", "stun:[2001:db8::1]:3478",
      "stun:stun.example.org:19302", "::ffff:192.0.2.1", "2001:db8:1:2:3:4:5:6", "255.255.255.255",
    ]
    let alphabet = Array("0123456789abcdef:. []+-/?candidtyphosu\u{00e9}\u{0301}\0\r\n")
    for _ in 0..<50_000 {
      var text = Array(seeds.randomElement(using: &generator) ?? "")
      for _ in 0..<Int.random(in: 0...4, using: &generator) where !text.isEmpty {
        let index = Int.random(in: 0..<text.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: text.remove(at: index)
        case 1: text.insert(alphabet.randomElement(using: &generator) ?? "0", at: index)
        default: text[index] = alphabet.randomElement(using: &generator) ?? "0"
        }
      }
      let damaged = String(text)
      if let ip = IPAddress(damaged), IPAddress(ip.description) != ip { Issue.record("\(damaged)") }
      if let url = try? ICEServerURL(parsing: damaged), (try? ICEServerURL(parsing: url.description)) != url {
        Issue.record("\(damaged)")
      }
      if let candidate = try? ICECandidate(parsing: damaged),
        (try? ICECandidate(parsing: candidate.attributeValue)) != candidate
      {
        Issue.record("\(damaged)")
      }
    }
  }

  @Test("3,000 unusual requests with the right password cause no trap and stay within the limits")
  func authenticRequests() {
    var generator = SeededGenerator(seed: 11)
    var line = SimulatedPath(
      left: agent(.controlled, Known.leftCredentials, hosts: [Known.left]),
      right: ScriptedPeer(hosts: [Known.right], credentials: Known.rightCredentials, remote: Known.leftCredentials))
    line.left.know(Known.rightCredentials, now: line.now)
    let types: [STUNAttributeType] = [
      .username, .priority, .useCandidate, .iceControlled, .iceControlling, .errorCode, .xorMappedAddress,
      .mappedAddress, .unknownAttributes, .init(rawValue: 0xC001), .init(rawValue: 0x7777),
    ]
    for round in 0..<3_000 {
      var message = STUNMessage(.request, transactionID: .random(using: &generator))
      message.username = "leftleft:rightrig"
      for _ in 0..<Int.random(in: 0...5, using: &generator) {
        guard let type = types.randomElement(using: &generator) else { continue }
        let length = [0, 1, 3, 4, 8, 20, 300].randomElement(using: &generator) ?? 0
        let value = ByteBuffer(bytes: (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        message.attributes.append(STUNAttribute(type, value: value))
      }
      let source = address("192.0.2.2", .random(in: 0...99, using: &generator))
      line.inject(
        message.encoded(integrityKey: Array(Known.leftCredentials.password.utf8)), from: source, to: Known.left,
        side: .left)
      if round % 20 == 0 { line.run(.milliseconds(40)) }
    }
    #expect(line.left.statistics.requestsReceived == 3_000)
  }

  @Test("calls in any order cause no trap, and deadlines always advance, for each of 100 seeds")
  func anyOrder() {
    for seed in 0..<100 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      var line = SimulatedPath.agents(
        left: [Known.left], right: [Known.right, Known.rightV6], tieBreakers: (seed % 3, seed % 2), seed: seed)
      line.loss = 0.1
      line.delay = 1...50
      for _ in 0..<40 {
        Self.act(on: &line, using: &generator)
        line.run(.milliseconds(Int64.random(in: 0...4_000, using: &generator)))
      }
      line.loss = 0
      line.isBlocked = { _, _ in false }
      line.left.restart(with: .random(using: &generator), now: line.now)
      line.right.restart(with: .random(using: &generator), now: line.now)
      line.exchangeAll()
      #expect(line.run(.seconds(5)) { $0.isComplete } != nil, "seed \(seed)")
    }
  }

  private static func act(on line: inout SimulatedPath<ICEAgent>, using generator: inout SeededGenerator) {
    switch Int.random(in: 0..<10, using: &generator) {
    case 0: line.left.know(line.right.localCredentials, now: line.now)
    case 1: line.right.know(line.left.localCredentials, now: line.now)
    case 2: line.left.know(line.right.localCandidates, now: line.now)
    case 3: line.right.know(line.left.localCandidates, now: line.now)
    case 4: line.left.restart(with: .random(using: &generator), now: line.now)
    case 5: line.left.know(line.right.localCredentials, isLite: true, now: line.now)
    case 6: line.isBlocked = { _, to in to == Known.right }
    case 7: line.isBlocked = { _, _ in false }
    case 8: line.left.addLocalHost(Known.leftV6)
    default: line.exchangeAll()
    }
  }

  /// Valid messages for the agent's username fragment, some of them with the right password.
  private static let seeds: [ByteBuffer] = {
    var peer = ScriptedPeer(hosts: [], credentials: Known.rightCredentials, remote: Known.leftCredentials)
    var response = STUNMessage(.success, transactionID: .init(high: 1, low: 2))
    response.xorMappedAddress = Known.left
    var rejection = STUNMessage(.errorResponse, transactionID: .init(high: 1, low: 2))
    rejection.errorCode = .unknownAttribute
    rejection.unknownAttributes = [.init(rawValue: 0x7001)]
    rejection.software = "somebody"
    return [
      peer.request(), peer.request(nominates: true), response.encoded(integrityKey: [1]),
      rejection.encoded(integrityKey: [1]),
    ]
  }()

  private static func damage(_ seeds: [ByteBuffer], using generator: inout SeededGenerator) -> ByteBuffer {
    if Int.random(in: 0..<10, using: &generator) == 0 {
      let count = Int.random(in: 0...200, using: &generator)
      return ByteBuffer(bytes: (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
    var bytes = Array((seeds.randomElement(using: &generator) ?? ByteBuffer()).readableBytesView)
    for _ in 0..<Int.random(in: 1...6, using: &generator) where bytes.count > 1 {
      let index = Int.random(in: 0..<bytes.count, using: &generator)
      switch Int.random(in: 0..<8, using: &generator) {
      case 0: bytes.removeLast(min(bytes.count, Int.random(in: 1...8, using: &generator)))
      case 1: bytes += [0, 6, 0, UInt8.random(in: 0...20, using: &generator)]
      case 2: bytes[index] = 0xFF
      default: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      }
    }
    // Half of them get a correct length, so that parsing continues after the header.
    if bytes.count >= 20, Bool.random(using: &generator) {
      bytes.removeLast((bytes.count - 20) % 4)
      let length = bytes.count - 20
      bytes[2] = UInt8(truncatingIfNeeded: length >> 8)
      bytes[3] = UInt8(truncatingIfNeeded: length)
    }
    return ByteBuffer(bytes: bytes)
  }
}
