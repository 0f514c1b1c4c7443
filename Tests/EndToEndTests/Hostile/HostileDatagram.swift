import TestSupport

/// Datagrams that resemble those of a call.
enum HostileDatagram {
  /// Returns a DTLS 1.2 record.
  private static func record(_ type: UInt8, epoch: UInt8, _ content: [UInt8]) -> [UInt8] {
    [type, 0xFE, 0xFD, 0, epoch, 0, 0, 0, 0, 0, 1, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
  }

  /// Returns fatal and close_notify alerts of DTLS, and malformed records.
  static func dtls(using generator: inout SeededGenerator) -> [[UInt8]] {
    [
      record(21, epoch: 0, [2, 40]), record(21, epoch: 0, [1, 0]), record(21, epoch: 1, noise(40, using: &generator)),
      record(20, epoch: 0, [1]), record(22, epoch: 0, [1] + noise(200, using: &generator)),
      record(22, epoch: 0, [1, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF]),
      record(23, epoch: 1, noise(300, using: &generator)), [22, 0xFE, 0xFD], [21],
      [22, 0xFE, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF] + noise(1_000, using: &generator),
    ]
  }

  /// Returns unsolicited STUN messages, with a wrong password or with wrong lengths.
  static func stun(using generator: inout SeededGenerator) -> [[UInt8]] {
    let cookie: [UInt8] = [0x21, 0x12, 0xA4, 0x42]
    func message(_ type: UInt16, length: Int? = nil, _ attributes: [UInt8]) -> [UInt8] {
      let length = length ?? attributes.count
      return [UInt8(type >> 8), UInt8(type & 0xFF), UInt8(length >> 8), UInt8(length & 0xFF)] + cookie
        + noise(12, using: &generator) + attributes
    }
    let username: [UInt8] = [0, 6, 0, 9] + Array("abcd:abcd".utf8) + [0, 0, 0]
    let integrity: [UInt8] = [0, 8, 0, 20] + noise(20, using: &generator)
    let mapped: [UInt8] = [0, 0x20, 0, 8, 0, 1] + noise(6, using: &generator)
    return [
      message(0x0001, username + integrity), message(0x0001, []), message(0x0101, mapped + integrity),
      message(0x0111, [0, 9, 0, 4, 0, 0, 4, 87]), message(0x0011, username), message(0x0001, length: 0xFFFC, username),
      message(0x0001, [0, 6, 0xFF, 0xFF]), message(0x0001, noise(400, using: &generator)),
    ]
  }

  /// Returns unencrypted RTP and RTCP, including BYE.
  static func media(using generator: inout SeededGenerator) -> [[UInt8]] {
    [
      [0x80, 96] + noise(200, using: &generator), [0x90, 0xEF] + noise(1_000, using: &generator),
      [0xBF, 111] + noise(10, using: &generator), [0x81, 203, 0, 1] + noise(4, using: &generator),
      [0x80, 200, 0, 6] + noise(24, using: &generator), [0x81, 206, 0, 2] + noise(8, using: &generator),
      [0x8F, 205, 0xFF, 0xFF] + noise(100, using: &generator), [0x80], [],
    ]
  }

  static func noise(_ count: Int, using generator: inout SeededGenerator) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }
}
