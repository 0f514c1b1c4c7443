import NIOCore

/// Writes a sequence of EBML elements (RFC 8794).
struct EBMLBuilder: Sendable {
  private(set) var bytes: ByteBuffer

  /// - Parameter capacity: the expected number of bytes.
  init(capacity: Int = 0) {
    bytes = capacity > 0 ? ByteBufferAllocator().buffer(capacity: capacity) : ByteBuffer()
  }

  var count: Int { bytes.readableBytes }

  /// Writes an unsigned integer in as few bytes as possible, at least one (RFC 8794, 7.2).
  mutating func unsigned(_ element: MatroskaElement, _ value: UInt64) {
    let length = max(1, 8 - value.leadingZeroBitCount / 8)
    start(element, size: length)
    bigEndian(value, length: length)
  }

  /// Writes an unsigned integer in eight bytes, so that it can be overwritten with another value.
  mutating func wideUnsigned(_ element: MatroskaElement, _ value: UInt64) {
    start(element, size: 8)
    bytes.writeInteger(value)
  }

  /// Writes an unsigned integer in two bytes, for the same reason.
  mutating func shortUnsigned(_ element: MatroskaElement, _ value: UInt16) {
    start(element, size: 2)
    bytes.writeInteger(value)
  }

  /// Writes a floating point number in eight bytes (RFC 8794, 7.3).
  mutating func float(_ element: MatroskaElement, _ value: Double) {
    start(element, size: 8)
    bytes.writeInteger(value.bitPattern)
  }

  /// Writes a floating point number in four bytes (RFC 8794, 7.3).
  mutating func shortFloat(_ element: MatroskaElement, _ value: Float) {
    start(element, size: 4)
    bytes.writeInteger(value.bitPattern)
  }

  /// Writes a date: nanoseconds since 2001-01-01 00:00 UTC (RFC 8794, 7.6).
  mutating func date(_ element: MatroskaElement, nanosecondsSince2001: Int64) {
    start(element, size: 8)
    bytes.writeInteger(nanosecondsSince2001)
  }

  mutating func text(_ element: MatroskaElement, _ value: String) {
    start(element, size: value.utf8.count)
    bytes.writeString(value)
  }

  mutating func binary(_ element: MatroskaElement, _ value: ByteBuffer) {
    start(element, size: value.readableBytes)
    bytes.writeImmutableBuffer(value)
  }

  /// Writes an element with its size in so many bytes, which may be more than it needs.
  mutating func binary(_ element: MatroskaElement, _ value: ByteBuffer, sizeLength: Int) {
    identifier(element)
    bigEndian(UInt64(value.readableBytes) | 1 << (7 * UInt64(sizeLength)), length: sizeLength)
    bytes.writeImmutableBuffer(value)
  }

  /// Writes an element that contains others.
  mutating func master(_ element: MatroskaElement, _ body: (inout EBMLBuilder) -> Void) {
    var inner = EBMLBuilder()
    body(&inner)
    binary(element, inner.bytes)
  }

  /// Writes the id and size of an element whose content follows, or is not known yet.
  ///
  /// - Parameter wideSize: the size in eight bytes; nil for “unknown” (RFC 8794, 6.2).
  mutating func open(_ element: MatroskaElement, wideSize: UInt64?) {
    identifier(element)
    bytes.writeInteger(0x0100_0000_0000_0000 | (wideSize ?? 0x00FF_FFFF_FFFF_FFFF))
  }

  /// Sets the size of the first element, which has an id of four bytes and was begun by ``open(_:wideSize:)``, to
  /// everything that follows.
  mutating func closeFirst() {
    guard count >= 12 else { return }
    bytes.setInteger(0x0100_0000_0000_0000 | UInt64(count - 12), at: bytes.readerIndex + 4)
  }

  /// Fills up to `length` bytes with a void element. A single byte cannot be filled and is left out.
  mutating func fill(to length: Int) {
    let room = length - count
    guard room >= 2 else { return }
    if room - 2 < 0x7F {
      start(.void, size: room - 2)
      bytes.writeRepeatingByte(0, count: room - 2)
    } else {
      open(.void, wideSize: UInt64(room - 9))
      bytes.writeRepeatingByte(0, count: room - 9)
    }
  }

  /// Appends elements that are already written.
  mutating func append(_ other: EBMLBuilder) {
    bytes.writeImmutableBuffer(other.bytes)
  }

  /// Appends elements; hides them, if requested, by replacing their first byte with the id of a void element. The bytes
  /// after it must be a size that covers the elements or leads to further void elements.
  mutating func append(_ other: EBMLBuilder, hidden: Bool) {
    let position = bytes.writerIndex
    append(other)
    if hidden { bytes.setInteger(UInt8(MatroskaElement.void.rawValue), at: position) }
  }

  /// Appends one block of the cluster (RFC 9559, 10.2).
  ///
  /// - Parameters:
  ///   - relativeTime: milliseconds after the cluster's timestamp.
  ///   - flags: 0x80 for a keyframe, 0x08 for a frame that is not shown.
  mutating func simpleBlock(track: UInt8, relativeTime: Int16, flags: UInt8, payload: ByteBuffer) {
    start(.simpleBlock, size: 4 + payload.readableBytes)
    bytes.writeMultipleIntegers(0x80 | track, relativeTime, flags)
    bytes.writeImmutableBuffer(payload)
  }

  /// Returns the bytes of an element's id.
  static func identifier(of element: MatroskaElement) -> ByteBuffer {
    var builder = EBMLBuilder()
    builder.identifier(element)
    return builder.bytes
  }

  private mutating func start(_ element: MatroskaElement, size: Int) {
    identifier(element)
    // All bits set would mean “unknown”, so each length ends one value early (RFC 8794, 6.2).
    var length = 1
    while length < 8, UInt64(size) >= (1 << (7 * UInt64(length))) - 1 { length += 1 }
    bigEndian(UInt64(size) | 1 << (7 * UInt64(length)), length: length)
  }

  private mutating func identifier(_ element: MatroskaElement) {
    bigEndian(UInt64(element.rawValue), length: 4 - element.rawValue.leadingZeroBitCount / 8)
  }

  private mutating func bigEndian(_ value: UInt64, length: Int) {
    switch length {
    case 1: bytes.writeInteger(UInt8(truncatingIfNeeded: value))
    case 2: bytes.writeInteger(UInt16(truncatingIfNeeded: value))
    case 3: bytes.writeMultipleIntegers(UInt8(truncatingIfNeeded: value >> 16), UInt16(truncatingIfNeeded: value))
    case 4: bytes.writeInteger(UInt32(truncatingIfNeeded: value))
    default:
      for index in (0..<length).reversed() {
        bytes.writeInteger(UInt8(truncatingIfNeeded: value >> (8 * UInt64(index))))
      }
    }
  }
}

/// The Matroska elements that a recording uses, with their ids as written in the file (RFC 9559, 5.1).
package enum MatroskaElement: UInt32 {
  // RFC 8794, 11.2: the EBML header.
  case ebml = 0x1A45_DFA3
  case ebmlVersion = 0x4286
  case ebmlReadVersion = 0x42F7
  case ebmlMaxIDLength = 0x42F2
  case ebmlMaxSizeLength = 0x42F3
  case docType = 0x4282
  case docTypeVersion = 0x4287
  case docTypeReadVersion = 0x4285
  case void = 0xEC

  case segment = 0x1853_8067

  case seekHead = 0x114D_9B74
  case seek = 0x4DBB
  case seekID = 0x53AB
  case seekPosition = 0x53AC

  case info = 0x1549_A966
  case timestampScale = 0x2A_D7B1
  case duration = 0x4489
  case dateUTC = 0x4461
  case muxingApp = 0x4D80
  case writingApp = 0x5741

  case tracks = 0x1654_AE6B
  case trackEntry = 0xAE
  case trackNumber = 0xD7
  case trackUID = 0x73C5
  case trackType = 0x83
  case flagLacing = 0x9C
  case language = 0x22_B59C
  case codecID = 0x86
  case codecPrivate = 0x63A2
  case codecDelay = 0x56AA
  case seekPreRoll = 0x56BB
  case video = 0xE0
  case pixelWidth = 0xB0
  case pixelHeight = 0xBA
  case projection = 0x7670
  case projectionType = 0x7671
  case projectionPoseYaw = 0x7673
  case projectionPoseRoll = 0x7675
  case audio = 0xE1
  case samplingFrequency = 0xB5
  case channels = 0x9F

  case cluster = 0x1F43_B675
  case timestamp = 0xE7
  case simpleBlock = 0xA3

  case cues = 0x1C53_BB6B
  case cuePoint = 0xBB
  case cueTime = 0xB3
  case cueTrackPositions = 0xB7
  case cueTrack = 0xF7
  case cueClusterPosition = 0xF1
}
