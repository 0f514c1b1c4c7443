package import NIOCore

/// What an Opus packet says of itself without being decoded (RFC 6716, 3).
///
/// All lengths in it are checked by the rules of RFC 6716, 3.4 (R1 to R7), as libopus does.
package struct OpusPacket: Sendable, Hashable {
  package let contents: OpusTableOfContents
  /// Whether it carries no audio at all: every frame is empty (RFC 6716, 3.2.1; discontinuous transmission).
  package let isEmpty: Bool
  /// Whether it only says that the sender skips silence: it is empty, or has at most 2 bytes, which libopus need not
  /// send (`opus_encode`; RFC 6716, 2.1.9).
  package let isSilence: Bool
  /// Whether it carries a copy, at lower quality, of the frame before its first one (in-band FEC; RFC 6716, 2.1.7), so that a lost
  /// packet can be rebuilt from it.
  package let carriesCopy: Bool

  /// 1 or 2.
  package var channels: Int { contents.channels }
  /// How many frames are in it: 1 to 48.
  package var frames: Int { contents.frames }
  /// How long it plays, in ticks of 48 kHz: 120 (2.5 ms) to 5,760 (120 ms).
  package var duration: Int { contents.duration }

  /// The longest frame in bytes (RFC 6716, 3.4, R2).
  private static let maximumFrameBytes = 1_275

  /// Reads the table of contents and checks all frame lengths.
  package init(parsing packet: ByteBuffer) throws(ParseError) {
    let contents = try OpusTableOfContents(parsing: packet)
    let lengths = packet.withUnsafeReadableBytes { Self.lengths(of: contents, in: $0) }
    guard let lengths else {
      throw .wrongValue("An Opus packet's size", expected: "that of the frames in it", found: packet.readableBytes)
    }
    self.contents = contents
    isEmpty = lengths.areZero
    isSilence = lengths.areZero || packet.readableBytes <= 2
    let first = lengths.first > 0 ? packet.getInteger(at: packet.readerIndex + lengths.start, as: UInt8.self) : nil
    carriesCopy = first.map { Self.announcesCopy($0, contents) } ?? false
  }

  /// What is needed of the frames' lengths.
  private struct Lengths {
    /// Where the first frame begins.
    var start: Int
    /// The first frame's length.
    var first: Int
    /// Whether all are 0.
    var areZero: Bool
  }

  /// Nil when they do not fit.
  private static func lengths(of contents: OpusTableOfContents, in bytes: UnsafeRawBufferPointer) -> Lengths? {
    switch contents.code {
    case 0:
      return equal(1, from: 1, until: bytes.count)
    case 1:
      return equal(2, from: 1, until: bytes.count)
    case 2:
      return varying(2, from: 1, until: bytes.count, in: bytes)
    default:
      // The frame count byte has told that there is a second byte.
      let isVarying = bytes[1] & 0x80 != 0
      let isPadded = bytes[1] & 0x40 != 0
      var position = 2
      var end = bytes.count
      var isOver = !isPadded
      while !isOver {
        guard position < end else { return nil }
        let padding = Int(bytes[position])
        position += 1
        // 255 stands for 254 bytes, and another length follows.
        end -= min(padding, 254)
        isOver = padding != 255
      }
      guard position <= end else { return nil }
      return isVarying
        ? varying(contents.frames, from: position, until: end, in: bytes)
        : equal(contents.frames, from: position, until: end)
    }
  }

  /// All frames have the same length.
  private static func equal(_ count: Int, from start: Int, until end: Int) -> Lengths? {
    let length = (end - start) / count
    guard length * count == end - start, length <= maximumFrameBytes else { return nil }
    return Lengths(start: start, first: length, areZero: length == 0)
  }

  /// All but the last frame tell their length.
  private static func varying(_ count: Int, from start: Int, until end: Int, in bytes: UnsafeRawBufferPointer)
    -> Lengths?
  {
    var position = start
    var first: Int?
    var sum = 0
    for _ in 1..<count {
      guard position < end else { return nil }
      var length = Int(bytes[position])
      position += 1
      if length >= 252 {
        guard position < end else { return nil }
        length += 4 * Int(bytes[position])
        position += 1
      }
      sum += length
      first = first ?? length
      guard sum <= end - position else { return nil }
    }
    let last = end - position - sum
    guard last <= maximumFrameBytes else { return nil }
    return Lengths(start: position, first: first ?? last, areZero: sum + last == 0)
  }

  /// Reads the header bits of a frame's SILK layer: for each channel a flag of voice for every 20 ms, and then the one that
  /// announces a copy of the frame before (RFC 6716, 4.2.3). They are coded evenly, so they are plain bits from the top.
  private static func announcesCopy(_ header: UInt8, _ contents: OpusTableOfContents) -> Bool {
    // From configuration 16 on there is no SILK layer.
    if contents.configuration >= 16 { return false }
    let voices = max(1, contents.frameDuration / 960)
    let middle = header >> (7 - voices) & 1
    let side = contents.channels == 1 ? 0 : header >> (6 - 2 * voices) & 1
    return middle | side != 0
  }
}
