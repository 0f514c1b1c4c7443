package import NIOCore

/// What the first one or two bytes of an Opus packet say of it (RFC 6716, 3.1 and 3.2).
///
/// Only these are read, as only they tell how long the packet plays; whether the rest can be decoded is the decoder's word.
package struct OpusPacket: Sendable, Hashable {
  package enum Mode: Sendable, Hashable {
    case silk
    case hybrid
    case celt
  }

  /// From 4 kHz of audio bandwidth (narrow) to 20 kHz (full).
  package enum Bandwidth: Sendable, Hashable {
    case narrow
    case medium
    case wide
    case superWide
    case full
  }

  /// Ticks a second of all durations here, whatever rate the encoder worked at (RFC 7587, 4.1).
  package static let clockRate = 48_000
  /// The longest packet, 120 ms, in ticks (RFC 6716, 3.2.5, R5).
  package static let maximumDuration = 5_760

  /// 0...31: mode, bandwidth and frame duration.
  package var configuration: UInt8
  package var isStereo: Bool
  /// 0...3: how many frames follow, and how their sizes are told.
  package var code: UInt8
  /// 1...48.
  package var frameCount: Int
  /// Bytes in the packet.
  package var byteCount: Int

  /// Reads the table-of-contents byte and, for code 3, the frame count byte.
  package init(parsing packet: ByteBuffer) throws(ParseError) {
    let start = packet.readerIndex
    guard let contents = packet.getInteger(at: start, as: UInt8.self) else {
      throw .tooShort("An Opus packet", needs: 1, found: 0)
    }
    configuration = contents >> 3
    isStereo = contents & 0x04 != 0
    code = contents & 0x03
    byteCount = packet.readableBytes
    switch code {
    case 0: frameCount = 1
    case 1, 2: frameCount = 2
    default:
      guard let countByte = packet.getInteger(at: start + 1, as: UInt8.self) else {
        throw .tooShort("An Opus packet of code 3", needs: 2, found: 1)
      }
      frameCount = Int(countByte & 0x3F)
      guard frameCount > 0 else {
        throw .wrongValue("An Opus packet's frame count", expected: "1 to 48", found: 0)
      }
    }
    guard duration <= Self.maximumDuration else {
      throw .wrongValue("An Opus packet's duration in 48 kHz ticks", expected: "at most 5760", found: duration)
    }
  }

  /// One frame's duration in ticks of 48 kHz: 120 (2.5 ms) to 2,880 (60 ms).
  package var frameDuration: Int {
    switch configuration {
    case 3, 7, 11: 2_880
    case 0...11: 480 << Int(configuration & 0x03)
    case 12...15: 480 << Int(configuration & 0x01)
    default: 120 << Int(configuration & 0x03)
    }
  }

  /// The packet's duration in ticks of 48 kHz: 120 (2.5 ms) to 5,760 (120 ms).
  package var duration: Int { frameCount * frameDuration }

  package var mode: Mode {
    switch configuration {
    case 0...11: .silk
    case 12...15: .hybrid
    default: .celt
    }
  }

  package var bandwidth: Bandwidth {
    switch configuration {
    case 0...3, 16...19: .narrow
    case 4...7: .medium
    case 8...11, 20...23: .wide
    case 12...13, 24...27: .superWide
    default: .full
    }
  }

  /// Whether the packet only says that the sender is silent: libopus need not send one of at most 2 bytes
  /// (`opus_encode`; RFC 6716, 2.1.9).
  package var isDTX: Bool { byteCount <= 2 }
}
