package import NIOCore

/// What the first one or two bytes of an Opus packet say of it (RFC 6716, 3.1 and 3.2): how long it plays, and little more.
package struct OpusTableOfContents: Sendable, Hashable {
  /// The longest packet, 120 ms, in ticks of 48 kHz (RFC 6716, 3.2.5, R5).
  package static let maximumDuration = 5_760

  /// 0...31: coding mode, bandwidth and frame duration (RFC 6716, table 2).
  package let configuration: UInt8
  /// 1 or 2.
  package let channels: Int
  /// 0...3: how many frames follow, and how their sizes are told.
  package let code: UInt8
  /// How many frames are in the packet: 1...48.
  package let frames: Int

  /// Reads the table-of-contents byte and, for code 3, the frame count byte.
  package init(parsing packet: ByteBuffer) throws(ParseError) {
    let start = packet.readerIndex
    guard let contents = packet.getInteger(at: start, as: UInt8.self) else {
      throw .tooShort("An Opus packet", needs: 1, found: 0)
    }
    configuration = contents >> 3
    channels = contents & 0x04 == 0 ? 1 : 2
    code = contents & 0x03
    switch code {
    case 0: frames = 1
    case 1, 2: frames = 2
    default:
      guard let count = packet.getInteger(at: start + 1, as: UInt8.self) else {
        throw .tooShort("An Opus packet of code 3", needs: 2, found: 1)
      }
      frames = Int(count & 0x3F)
      guard frames > 0 else { throw .wrongValue("An Opus packet's frame count", expected: "1 to 48", found: 0) }
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

  /// The packet's duration in ticks of 48 kHz, whatever rate the encoder worked at (RFC 7587, 4.1): 120 to 5,760.
  package var duration: Int { frames * frameDuration }
}
