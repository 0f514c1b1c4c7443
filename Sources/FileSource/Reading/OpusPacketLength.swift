import NIOCore

/// The length of an Opus packet, from its first two bytes (RFC 6716, 3.1 and 3.2).
enum OpusPacketLength {
  /// The longest packet: 120 ms (RFC 6716, 3.2.5), in 48 kHz ticks.
  static let longest: Int64 = 5760

  /// 48 kHz ticks of sound in a packet; nil when the bytes are no Opus packet.
  static func ticks(_ packet: ByteBuffer) -> Int64? {
    guard let first: UInt8 = packet.getInteger(at: packet.readerIndex) else { return nil }
    let frames: Int64
    switch first & 0b11 {
    case 0:
      frames = 1
    case 1, 2:
      frames = 2
    default:
      guard let count: UInt8 = packet.getInteger(at: packet.readerIndex + 1), count & 0x3f > 0 else { return nil }
      frames = Int64(count & 0x3f)
    }
    let length = frames * frameTicks(configuration: first >> 3)
    return length <= longest ? length : nil
  }

  /// 48 kHz ticks of one frame, from the configuration number (RFC 6716, table 2).
  private static func frameTicks(configuration: UInt8) -> Int64 {
    switch configuration {
    case 0..<12: [480, 960, 1920, 2880][Int(configuration % 4)]
    case 12..<16: [480, 960][Int(configuration % 2)]
    default: [120, 240, 480, 960][Int(configuration % 4)]
    }
  }
}
