package import NIOCore

/// One attribute of a STUN message, kept as it was received (RFC 8489, 14).
package struct STUNAttribute: Sendable, Hashable {
  package var type: STUNAttributeType
  /// The value without its padding; at most 65,535 bytes.
  package var value: ByteBuffer
  /// The bytes that pad the value to a multiple of four; nil means zeros.
  package var padding: ByteBuffer?

  package init(_ type: STUNAttributeType, value: ByteBuffer, padding: ByteBuffer? = nil) {
    self.type = type
    self.value = value
    self.padding = padding
  }

  /// Bytes on the wire: type, length, value and padding.
  var wireLength: Int { 4 + Self.padded(value.readableBytes) }

  static func padded(_ length: Int) -> Int { (length + 3) & ~3 }

  func write(into buffer: inout ByteBuffer) {
    buffer.writeMultipleIntegers(type.rawValue, UInt16(truncatingIfNeeded: value.readableBytes))
    buffer.writeImmutableBuffer(value)
    let missing = Self.padded(value.readableBytes) - value.readableBytes
    if let padding, padding.readableBytes == missing {
      buffer.writeImmutableBuffer(padding)
    } else {
      buffer.writeRepeatingByte(0, count: missing)
    }
  }
}
