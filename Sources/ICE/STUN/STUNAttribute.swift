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

/// The 16-bit type of a STUN attribute (RFC 8489, 18.3).
package struct STUNAttributeType: RawRepresentable, Sendable, Hashable {
  package let rawValue: UInt16

  package init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  // RFC 8489, 14.
  package static let mappedAddress = STUNAttributeType(rawValue: 0x0001)
  package static let username = STUNAttributeType(rawValue: 0x0006)
  package static let messageIntegrity = STUNAttributeType(rawValue: 0x0008)
  package static let errorCode = STUNAttributeType(rawValue: 0x0009)
  package static let unknownAttributes = STUNAttributeType(rawValue: 0x000A)
  package static let realm = STUNAttributeType(rawValue: 0x0014)
  package static let nonce = STUNAttributeType(rawValue: 0x0015)
  package static let messageIntegritySHA256 = STUNAttributeType(rawValue: 0x001C)
  package static let passwordAlgorithm = STUNAttributeType(rawValue: 0x001D)
  package static let userHash = STUNAttributeType(rawValue: 0x001E)
  package static let xorMappedAddress = STUNAttributeType(rawValue: 0x0020)
  package static let software = STUNAttributeType(rawValue: 0x8022)
  package static let fingerprint = STUNAttributeType(rawValue: 0x8028)

  // RFC 8445, 16.1.
  package static let priority = STUNAttributeType(rawValue: 0x0024)
  package static let useCandidate = STUNAttributeType(rawValue: 0x0025)
  package static let iceControlled = STUNAttributeType(rawValue: 0x8029)
  package static let iceControlling = STUNAttributeType(rawValue: 0x802A)

  // RFC 8489, 14, for long-term credentials and alternate servers.
  package static let passwordAlgorithms = STUNAttributeType(rawValue: 0x8002)
  package static let alternateServer = STUNAttributeType(rawValue: 0x8023)

  // RFC 8656, 18.
  package static let channelNumber = STUNAttributeType(rawValue: 0x000C)
  package static let lifetime = STUNAttributeType(rawValue: 0x000D)
  package static let xorPeerAddress = STUNAttributeType(rawValue: 0x0012)
  package static let data = STUNAttributeType(rawValue: 0x0013)
  package static let xorRelayedAddress = STUNAttributeType(rawValue: 0x0016)
  package static let requestedAddressFamily = STUNAttributeType(rawValue: 0x0017)
  package static let evenPort = STUNAttributeType(rawValue: 0x0018)
  package static let requestedTransport = STUNAttributeType(rawValue: 0x0019)
  package static let dontFragment = STUNAttributeType(rawValue: 0x001A)
  package static let reservationToken = STUNAttributeType(rawValue: 0x0022)
  package static let additionalAddressFamily = STUNAttributeType(rawValue: 0x8000)
  package static let addressErrorCode = STUNAttributeType(rawValue: 0x8001)

  /// Whether a receiver that does not know the type must refuse the message (RFC 8489, 14).
  package var isComprehensionRequired: Bool { rawValue < 0x8000 }

  /// Whether the ICE agent understands the type; those of TURN are not among them.
  package var isUnderstood: Bool { Self.understood.contains(self) }

  private static let understood: Set<STUNAttributeType> = [
    .mappedAddress, .username, .messageIntegrity, .errorCode, .unknownAttributes, .realm, .nonce,
    .messageIntegritySHA256, .passwordAlgorithm, .userHash, .xorMappedAddress, .software, .fingerprint, .priority,
    .useCandidate, .iceControlled, .iceControlling,
  ]
}
