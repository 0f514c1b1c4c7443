import NIOCore

/// Writes EBML elements one after the other (RFC 8794).
struct EBMLBuilder: Sendable {
  private(set) var bytes: ByteBuffer

  /// - Parameter capacity: the bytes that are expected.
  init(capacity: Int = 0) {
    bytes = capacity > 0 ? ByteBufferAllocator().buffer(capacity: capacity) : ByteBuffer()
  }

  var count: Int { bytes.readableBytes }

  /// An unsigned integer in as few bytes as it needs, at least one (RFC 8794, 7.2).
  mutating func unsigned(_ element: WebMElement, _ value: UInt64) {
    let length = max(1, 8 - value.leadingZeroBitCount / 8)
    start(element, size: length)
    bigEndian(value, length: length)
  }

  /// An unsigned integer in eight bytes, so that it can be written again with another value.
  mutating func wideUnsigned(_ element: WebMElement, _ value: UInt64) {
    start(element, size: 8)
    bytes.writeInteger(value)
  }

  /// An unsigned integer in two bytes, for the same reason.
  mutating func shortUnsigned(_ element: WebMElement, _ value: UInt16) {
    start(element, size: 2)
    bytes.writeInteger(value)
  }

  /// A floating point number in eight bytes (RFC 8794, 7.3).
  mutating func float(_ element: WebMElement, _ value: Double) {
    start(element, size: 8)
    bytes.writeInteger(value.bitPattern)
  }

  /// Nanoseconds since 2001-01-01 00:00 UTC (RFC 8794, 7.6).
  mutating func date(_ element: WebMElement, nanosecondsSince2001: Int64) {
    start(element, size: 8)
    bytes.writeInteger(nanosecondsSince2001)
  }

  mutating func text(_ element: WebMElement, _ value: String) {
    start(element, size: value.utf8.count)
    bytes.writeString(value)
  }

  mutating func binary(_ element: WebMElement, _ value: ByteBuffer) {
    start(element, size: value.readableBytes)
    bytes.writeImmutableBuffer(value)
  }

  /// An element that holds others.
  mutating func master(_ element: WebMElement, _ body: (inout EBMLBuilder) -> Void) {
    var inner = EBMLBuilder()
    body(&inner)
    binary(element, inner.bytes)
  }

  /// The head of an element whose content follows, or is not known yet.
  ///
  /// - Parameter wideSize: the size in eight bytes; nil for "unknown" (RFC 8794, 6.2).
  mutating func open(_ element: WebMElement, wideSize: UInt64?) {
    identifier(element)
    bytes.writeInteger(0x0100_0000_0000_0000 | (wideSize ?? 0x00FF_FFFF_FFFF_FFFF))
  }

  /// Sets the size of the first element, whose id has four bytes and which ``open(_:wideSize:)`` began, to all that follows.
  mutating func closeFirst() {
    guard count >= 12 else { return }
    bytes.setInteger(0x0100_0000_0000_0000 | UInt64(count - 12), at: bytes.readerIndex + 4)
  }

  /// Fills up to `length` bytes in all with nothing. Fewer than two bytes cannot be filled and are left away.
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

  /// Appends elements whose first byte is written as that of a void element when they are hidden. What follows that byte
  /// has to be a size that covers the elements or leads to further void ones.
  mutating func append(_ other: EBMLBuilder, hidden: Bool) {
    let position = bytes.writerIndex
    append(other)
    if hidden { bytes.setInteger(UInt8(WebMElement.void.rawValue), at: position) }
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

  /// The bytes of an element's id.
  static func identifier(of element: WebMElement) -> ByteBuffer {
    var builder = EBMLBuilder()
    builder.identifier(element)
    return builder.bytes
  }

  private mutating func start(_ element: WebMElement, size: Int) {
    identifier(element)
    // All bits set would mean "unknown", so each length ends one value early (RFC 8794, 6.2).
    var length = 1
    while length < 8, UInt64(size) >= (1 << (7 * UInt64(length))) - 1 { length += 1 }
    bigEndian(UInt64(size) | 1 << (7 * UInt64(length)), length: length)
  }

  private mutating func identifier(_ element: WebMElement) {
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
