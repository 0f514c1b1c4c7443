package import NIOCore

/// The properties of an Opus packet that can be read without decoding it (RFC 6716, 3).
///
/// All lengths are checked by the rules of RFC 6716, 3.4 (R1 to R7), as in libopus.
package struct OpusPacket: Sendable, Hashable {
  package let contents: OpusTableOfContents
  /// Whether the packet has no audio at all: every frame is empty (RFC 6716, 3.2.1; discontinuous transmission).
  package let isEmpty: Bool
  /// Whether the packet only signals silence: it is empty, or has at most 2 bytes, which need not be sent
  /// (`opus_encode`; RFC 6716, 2.1.9).
  package let isSilence: Bool
  /// Whether the packet has a copy, at lower quality, of the frame before its first one (in-band FEC; RFC 6716, 2.1.7),
  /// from which a lost packet can be reconstructed.
  package let carriesCopy: Bool
  /// Whether its padding is not empty: newer encoders put extensions there, such as copies of the last second (deep audio
  /// redundancy, DRED), which older decoders ignore.
  package let carriesExtensions: Bool

  /// 1 or 2.
  package var channels: Int { contents.channels }
  /// The number of frames in the packet: 1 to 48.
  package var frames: Int { contents.frames }
  /// The duration in ticks of 48 kHz: 120 (2.5 ms) to 5,760 (120 ms).
  package var duration: Int { contents.duration }

  /// The maximum frame size in bytes (RFC 6716, 3.4, R2).
  private static let maximumFrameBytes = 1_275

  /// Parses the table of contents and checks all frame lengths.
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
    carriesExtensions = packet.readableBytesView.suffix(lengths.padding).contains { $0 != 0 }
    carriesCopy = first.map { Self.announcesCopy($0, contents) } ?? false
  }

  /// A summary of the frame lengths.
  private struct Lengths {
    /// The position of the first frame.
    var start: Int
    /// The first frame's length.
    var first: Int
    /// Whether all are 0.
    var areZero: Bool
    /// The bytes of padding after the frames.
    var padding = 0
  }

  /// Returns the frame lengths, or nil when the frames do not fit into the packet.
  private static func lengths(of contents: OpusTableOfContents, in bytes: UnsafeRawBufferPointer) -> Lengths? {
    switch contents.code {
    case 0:
      return equal(1, from: 1, until: bytes.count)
    case 1:
      return equal(2, from: 1, until: bytes.count)
    case 2:
      return varying(2, from: 1, until: bytes.count, in: bytes)
    default:
      // Parsing of the table of contents has verified that the frame count byte exists.
      let isVarying = bytes[1] & 0x80 != 0
      let isPadded = bytes[1] & 0x40 != 0
      var position = 2
      var end = bytes.count
      var isOver = !isPadded
      while !isOver {
        guard position < end else { return nil }
        let padding = Int(bytes[position])
        position += 1
        // 255 means 254 bytes, followed by another length.
        end -= min(padding, 254)
        isOver = padding != 255
      }
      guard position <= end else { return nil }
      var lengths =
        isVarying
        ? varying(contents.frames, from: position, until: end, in: bytes)
        : equal(contents.frames, from: position, until: end)
      lengths?.padding = bytes.count - end
      return lengths
    }
  }

  /// Returns the lengths of frames of equal size.
  private static func equal(_ count: Int, from start: Int, until end: Int) -> Lengths? {
    let length = (end - start) / count
    guard length * count == end - start, length <= maximumFrameBytes else { return nil }
    return Lengths(start: start, first: length, areZero: length == 0)
  }

  /// Returns the lengths of frames of which all but the last have an encoded length.
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

  /// Reads the header bits of a frame's SILK layer: for each channel a voice activity flag for every 20 ms, then the
  /// flag for a copy of the previous frame (RFC 6716, 4.2.3). They are coded with even probability, so they are plain
  /// bits from the top.
  private static func announcesCopy(_ header: UInt8, _ contents: OpusTableOfContents) -> Bool {
    // From configuration 16 on there is no SILK layer.
    if contents.configuration >= 16 { return false }
    let voices = max(1, contents.frameDuration / 960)
    let middle = header >> (7 - voices) & 1
    let side = contents.channels == 1 ? 0 : header >> (6 - 2 * voices) & 1
    return middle | side != 0
  }
}

/// The table of contents of an Opus packet: its first one or two bytes (RFC 6716, 3.1 and 3.2).
package struct OpusTableOfContents: Sendable, Hashable {
  /// The maximum duration of a packet, 120 ms, in ticks of 48 kHz (RFC 6716, 3.2.5, R5).
  package static let maximumDuration = 5_760

  /// The first byte.
  private let bits: UInt8
  private let frameCount: UInt8

  /// 0...31: coding mode, bandwidth and frame duration (RFC 6716, table 2).
  package var configuration: UInt8 { bits >> 3 }
  /// 1 or 2.
  package var channels: Int { bits & 0x04 == 0 ? 1 : 2 }
  /// 0...3: the number of frames and the encoding of their sizes.
  package var code: UInt8 { bits & 0x03 }
  /// The number of frames in the packet: 1...48.
  package var frames: Int { Int(frameCount) }

  /// Parses the table-of-contents byte and, for code 3, the frame count byte.
  package init(parsing packet: ByteBuffer) throws(ParseError) {
    let start = packet.readerIndex
    guard let contents = packet.getInteger(at: start, as: UInt8.self) else {
      throw .tooShort("An Opus packet", needs: 1, found: 0)
    }
    bits = contents
    switch contents & 0x03 {
    case 0: frameCount = 1
    case 1, 2: frameCount = 2
    default:
      guard let count = packet.getInteger(at: start + 1, as: UInt8.self) else {
        throw .tooShort("An Opus packet of code 3", needs: 2, found: 1)
      }
      frameCount = count & 0x3F
      guard frameCount > 0 else { throw .wrongValue("An Opus packet's frame count", expected: "1 to 48", found: 0) }
    }
    guard duration <= Self.maximumDuration else {
      throw .wrongValue("An Opus packet's duration in 48 kHz ticks", expected: "at most 5760", found: duration)
    }
  }

  /// The duration of one frame in ticks of 48 kHz: 120 (2.5 ms) to 2,880 (60 ms).
  package var frameDuration: Int {
    switch configuration {
    case 3, 7, 11: 2_880
    case 0...11: 480 << Int(configuration & 0x03)
    case 12...15: 480 << Int(configuration & 0x01)
    default: 120 << Int(configuration & 0x03)
    }
  }

  /// The duration of the packet in ticks of 48 kHz, whatever rate the encoder used (RFC 7587, 4.1): 120 to 5,760.
  package var duration: Int { frames * frameDuration }
}
