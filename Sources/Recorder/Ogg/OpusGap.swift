import Bitstream
import Codecs
import NIOCore

/// Packets without audio that fill a gap.
///
/// Ogg Opus cannot express gaps: a granule position counts the samples of the packets before it and nothing else. RFC
/// 7845, 4.1, recommends packets with empty frames to replace missing ones. A decoder conceals them: the last audio
/// fades out and silence follows. They cost about 30 bytes a second.
enum OpusGap {
  /// The shortest frame, 2.5 ms, in ticks of 48 kHz.
  static let shortestFrame: Int64 = 120

  struct Packet: Sendable, Hashable {
    let payload: ByteBuffer
    /// The duration in ticks of 48 kHz.
    let duration: Int64
  }

  /// Returns packets that fill as much of a gap as frames of 2.5 ms allow.
  ///
  /// - Parameters:
  ///   - ticks: the gap's length in ticks of 48 kHz.
  ///   - last: the first byte of the packet before the gap; its mode and bandwidth are kept if they have short enough
  ///     frames.
  static func packets(filling ticks: Int64, after last: UInt8) -> [Packet] {
    let stereo = last & 0b100
    let configuration = last >> 3
    let (ten, twenty) = longFrames(of: configuration)
    var left = ticks
    var packets: [Packet] = []
    // Code 3: a count byte and then frames of equal size, here zero (RFC 6716, 3.2.5).
    while left >= 960 {
      let count = min(left / 960, 6)
      packets.append(packet(twenty << 3 | stereo | 3, UInt8(count), duration: count * 960))
      left -= count * 960
    }
    let celt = shortFrames(of: configuration)
    for (configuration, length) in [(ten, 480), (celt + 1, 240), (celt, shortestFrame)] as [(UInt8, Int64)]
    where left >= length {
      packets.append(packet(configuration << 3 | stereo, nil, duration: length))
      left -= length
    }
    return packets
  }

  /// Whether a packet is one of these rather than a received one: empty frames counted by a count byte, or one empty
  /// frame of at most 10 ms. Encoders represent silence as one longer frame.
  static func isFiller(_ payload: ByteBuffer) -> Bool {
    guard let first: UInt8 = payload.getInteger(at: payload.readerIndex) else { return false }
    switch payload.readableBytes {
    case 1: return (try? OpusPacket(parsing: payload)).map { Int64($0.duration) <= 480 } ?? false
    case 2: return first & 3 == 3
    default: return false
    }
  }

  private static func packet(_ first: UInt8, _ second: UInt8?, duration: Int64) -> Packet {
    Packet(payload: ByteBuffer(bytes: [first] + (second.map { [$0] } ?? [])), duration: duration)
  }

  /// Returns the configurations for 10 and 20 ms with the same mode and bandwidth (RFC 6716, table 2).
  private static func longFrames(of configuration: UInt8) -> (ten: UInt8, twenty: UInt8) {
    switch configuration {
    case 0..<12: (configuration & ~3, configuration & ~3 + 1)
    case 12..<16: (configuration & ~1, configuration & ~1 + 1)
    default: (configuration & ~3 + 2, configuration & ~3 + 3)
    }
  }

  /// Returns the configuration for 2.5 ms with the same bandwidth, which only CELT has; the next configuration is 5 ms.
  private static func shortFrames(of configuration: UInt8) -> UInt8 {
    switch configuration {
    case 0..<4, 16..<20: 16
    case 4..<12, 20..<24: 20
    case 12..<14, 24..<28: 24
    default: 28
    }
  }
}
