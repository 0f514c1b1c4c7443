package import NIOCore

/// MESSAGE-INTEGRITY (RFC 8489, 14.5) and FINGERPRINT (14.7): made when a message is finished, checked before it is
/// believed. A message writes back what was read, so both are computed from the message itself.
extension STUNMessage {
  /// Bytes of a MESSAGE-INTEGRITY attribute and of a FINGERPRINT attribute, their own headers included.
  private static let integrityLength = 24
  private static let fingerprintLength = 8
  private static let fingerprintMask: UInt32 = 0x5354_554E

  /// The finished datagram: the message, MESSAGE-INTEGRITY unless the key is nil, and FINGERPRINT.
  ///
  /// - Parameter key: the short-term password's bytes (RFC 8489, 9.1.1).
  package func sealed(key: [UInt8]?) -> ByteBuffer {
    var message = self
    if let key { message.appendIntegrity(key: key) }
    message.appendFingerprint()
    var datagram = ByteBuffer()
    message.write(into: &datagram)
    return datagram
  }

  package mutating func appendIntegrity(key: [UInt8]) {
    attributes.append(
      STUNAttribute(.messageIntegrity, value: ByteBuffer(bytes: digest(before: attributes.endIndex, key: key))))
  }

  package mutating func appendFingerprint() {
    attributes.append(STUNAttribute(.fingerprint, value: ByteBuffer(integer: checksum(before: attributes.endIndex))))
  }

  /// Whether the message has a MESSAGE-INTEGRITY that only the key's owner can have made.
  package func isAuthentic(key: [UInt8]) -> Bool {
    guard let index = attributes.firstIndex(where: { $0.type == .messageIntegrity }) else { return false }
    return HMACSHA1.areEqual(attributes[index].value.readableBytesView, digest(before: index, key: key))
  }

  /// Whether the message ends with the right FINGERPRINT; nil when it has none at its end.
  package var hasRightFingerprint: Bool? {
    guard let last = attributes.last, last.type == .fingerprint else { return nil }
    let value = last.value
    guard value.readableBytes == 4, let found = value.getInteger(at: value.readerIndex, as: UInt32.self) else {
      return false
    }
    return found == checksum(before: attributes.endIndex - 1)
  }

  private func digest(before index: Int, key: [UInt8]) -> [UInt8] {
    var prefix = ByteBuffer()
    write(attributes[..<index], extraLength: Self.integrityLength, into: &prefix)
    return HMACSHA1.digest(of: prefix.readableBytesView, key: key)
  }

  private func checksum(before index: Int) -> UInt32 {
    var prefix = ByteBuffer()
    write(attributes[..<index], extraLength: Self.fingerprintLength, into: &prefix)
    return CRC32.checksum(of: prefix.readableBytesView) ^ Self.fingerprintMask
  }
}
