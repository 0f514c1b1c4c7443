import NIOCore
import PeerEngine
import TestSupport
import Testing

@Suite("SRTP")
struct SRTPSessionTests {
  /// Returns two sessions with the keys of one DTLS handshake, without the handshake.
  func pair(_ profile: SRTPProfile) throws -> (SRTPSession, SRTPSession) {
    let count = 2 * (profile.keyLength + profile.saltLength)
    let material = (0..<count).map { UInt8($0) }
    return (
      try SRTPSession(keys: SRTPKeys(profile: profile, material: material, role: .client)),
      try SRTPSession(keys: SRTPKeys(profile: profile, material: material, role: .server))
    )
  }

  func rtp(sequenceNumber: UInt16, payload: String = "media") -> ByteBuffer {
    var packet = ByteBuffer(bytes: [0x80, 96])
    packet.writeInteger(sequenceNumber)
    packet.writeInteger(UInt32(1234))
    packet.writeInteger(UInt32(0xCAFE))
    packet.writeString(payload)
    return packet
  }

  @Test(
    "a packet that one side protects is unprotected by the other, with every profile", arguments: SRTPProfile.allCases)
  func roundTrip(profile: SRTPProfile) throws {
    let (alice, bob) = try pair(profile)
    for number in UInt16(0)..<50 {
      var packet = rtp(sequenceNumber: 65_510 &+ number)
      let plain = packet
      try alice.protectRTP(&packet)
      #expect(packet.readableBytes > plain.readableBytes)
      try bob.unprotectRTP(&packet)
      #expect(packet == plain)
    }
    var report = ByteBuffer(bytes: [0x80, 201, 0, 1, 0, 0, 0xCA, 0xFE])
    let plain = report
    try bob.protectRTCP(&report)
    try alice.unprotectRTCP(&report)
    #expect(report == plain)
  }

  @Test("a replayed packet is refused", arguments: SRTPProfile.allCases)
  func replay(profile: SRTPProfile) throws {
    let (alice, bob) = try pair(profile)
    var packet = rtp(sequenceNumber: 1)
    try alice.protectRTP(&packet)
    var again = packet
    try bob.unprotectRTP(&packet)
    #expect(throws: SRTPError.replayed) { try bob.unprotectRTP(&again) }
  }

  @Test("a forged packet is refused and does not change the session", arguments: SRTPProfile.allCases)
  func forgery(profile: SRTPProfile) throws {
    let (alice, bob) = try pair(profile)
    var packet = rtp(sequenceNumber: 1)
    try alice.protectRTP(&packet)
    for index in packet.readerIndex..<packet.writerIndex where index != 0 {
      var forged = packet
      forged.setInteger((packet.getInteger(at: index, as: UInt8.self) ?? 0) ^ 0x10, at: index)
      #expect(throws: SRTPError.self) { try bob.unprotectRTP(&forged) }
    }
    try bob.unprotectRTP(&packet)
    #expect(packet == rtp(sequenceNumber: 1))
  }

  @Test("invalid packets of 0 to 60 bytes are refused and do not change the session", arguments: SRTPProfile.allCases)
  func shortNoise(profile: SRTPProfile) throws {
    let (alice, bob) = try pair(profile)
    for count in 0...60 {
      var noise = ByteBuffer(repeating: 0x9F, count: count)
      #expect(throws: SRTPError.self) { try bob.unprotectRTP(&noise) }
      var report = ByteBuffer(repeating: 0x81, count: count)
      #expect(throws: SRTPError.self) { try bob.unprotectRTCP(&report) }
    }
    var packet = rtp(sequenceNumber: 9)
    try alice.protectRTP(&packet)
    try bob.unprotectRTP(&packet)
  }

  @Test("a packet that is 2,000 packets late is still accepted")
  func lateness() throws {
    let (alice, bob) = try pair(.aes128GCM)
    var first = rtp(sequenceNumber: 0)
    try alice.protectRTP(&first)
    for number in UInt16(1)...2_000 {
      var packet = rtp(sequenceNumber: number)
      try alice.protectRTP(&packet)
      try bob.unprotectRTP(&packet)
    }
    try bob.unprotectRTP(&first)
  }

  @Test(
    "sequence numbers may wrap around repeatedly, with loss and reordering around each wrap",
    arguments: SRTPProfile.allCases)
  func rollover(profile: SRTPProfile) throws {
    let (alice, bob) = try pair(profile)
    var generator = SeededGenerator(seed: 17)
    // All numbers near multiples of 65,536 and every 200th between them: three and a half cycles.
    var numbers: [Int] = []
    var number = 60_000
    while number < 60_000 + 7 * 32_768 {
      numbers.append(number)
      let toBorder = (number + 32_768) % 65_536 - 32_768
      number += abs(toBorder) < 300 ? 1 : 200
    }
    var held: [(plain: ByteBuffer, protected: ByteBuffer)] = []
    var oldest = 0
    var refused = 0
    func take(_ one: (plain: ByteBuffer, protected: ByteBuffer)) {
      var packet = one.protected
      try? bob.unprotectRTP(&packet)
      if packet != one.plain { refused += 1 }
    }
    for number in numbers {
      let plain = rtp(sequenceNumber: UInt16(truncatingIfNeeded: number), payload: "\(number)")
      var packet = plain
      try alice.protectRTP(&packet)
      switch Int.random(in: 0..<10, using: &generator) {
      case 0: break  // lost
      case 1:
        if held.isEmpty { oldest = number }
        held.append((plain, packet))
      default: take((plain, packet))
      }
      if !held.isEmpty, number - oldest > 300 {
        held.forEach(take)
        held.removeAll()
      }
    }
    held.forEach(take)
    #expect(refused == 0)
  }

  @Test("packets of a thousand sources one after another are accepted, and the newest source continues")
  func manySources() throws {
    let (alice, bob) = try pair(.aes128GCM)
    for source in UInt32(1)...1_000 {
      var packet = rtp(sequenceNumber: 7)
      packet.setInteger(source, at: 8)
      try alice.protectRTP(&packet)
      try bob.unprotectRTP(&packet)
    }
    var next = rtp(sequenceNumber: 8)
    next.setInteger(UInt32(1_000), at: 8)
    try alice.protectRTP(&next)
    try bob.unprotectRTP(&next)
  }

  @Test("protecting the same packet twice produces the same bytes")
  func repeatedTransmission() throws {
    let (alice, _) = try pair(.aes128GCM)
    var first = rtp(sequenceNumber: 5)
    var second = first
    try alice.protectRTP(&first)
    try alice.protectRTP(&second)
    #expect(first == second)
  }
}
