/// Builds Ogg pages byte by byte (RFC 3533, 6), including malformed ones.
struct OggBuilder {
  var serial: UInt32 = 7
  private var sequence: UInt32 = 0

  init(serial: UInt32 = 7) {
    self.serial = serial
  }

  static let continues: UInt8 = 1
  static let begins: UInt8 = 2
  static let ends: UInt8 = 4

  /// Builds a page of whole packets.
  mutating func page(_ packets: [[UInt8]], granule: Int64, flags: UInt8 = 0) -> [UInt8] {
    var segments: [UInt8] = []
    for packet in packets {
      segments += [UInt8](repeating: 255, count: packet.count / 255) + [UInt8(packet.count % 255)]
    }
    return page(segments: segments, body: packets.flatMap(\.self), granule: granule, flags: flags)
  }

  mutating func page(segments: [UInt8], body: [UInt8], granule: Int64, flags: UInt8) -> [UInt8] {
    var page = Array("OggS".utf8) + [0, flags]
    page += Self.littleEndian(UInt64(bitPattern: granule), bytes: 8)
    page += Self.littleEndian(UInt64(serial), bytes: 4) + Self.littleEndian(UInt64(sequence), bytes: 4)
    page += [0, 0, 0, 0, UInt8(segments.count)] + segments + body
    sequence += 1
    page.replaceSubrange(22..<26, with: Self.littleEndian(UInt64(Self.checksum(page)), bytes: 4))
    return page
  }

  /// Builds the two header pages of an Opus stream.
  mutating func headers(_ head: [UInt8] = WebMBuilder.opusHead()) -> [UInt8] {
    page([head], granule: 0, flags: Self.begins)
      + page([Array("OpusTags".utf8) + [UInt8](repeating: 0, count: 8)], granule: 0)
  }

  /// Simulates a lost page.
  mutating func losePage() { sequence += 1 }

  /// Returns the CRC-32 with polynomial 0x04c11db7, not reflected, from 0 (RFC 3533, 6).
  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    bytes.reduce(0) { sum, byte in
      var sum = sum ^ UInt32(byte) << 24
      for _ in 0..<8 { sum = sum & 0x8000_0000 == 0 ? sum << 1 : sum << 1 ^ 0x04c1_1db7 }
      return sum
    }
  }

  private static func littleEndian(_ value: UInt64, bytes: Int) -> [UInt8] {
    (0..<bytes).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
  }
}
