import COpenSSL
package import NIOCore

/// MESSAGE-INTEGRITY (RFC 8489, 14.5) and FINGERPRINT (14.7): added when a message is finished, verified before it is
/// trusted. Writing a parsed message returns the received bytes, so both are computed from the message itself.
extension STUNMessage {
  /// Bytes of a MESSAGE-INTEGRITY attribute and of a FINGERPRINT attribute, including their headers.
  private static let integrityLength = 24
  private static let fingerprintLength = 8
  private static let fingerprintMask: UInt32 = 0x5354_554E

  /// Returns the finished datagram: the message, MESSAGE-INTEGRITY unless the key is nil, and FINGERPRINT.
  ///
  /// - Parameter integrityKey: the bytes of the short-term password (RFC 8489, 9.1.1).
  package func encoded(integrityKey: [UInt8]?) -> ByteBuffer {
    var message = self
    if let integrityKey { message.appendIntegrity(key: integrityKey) }
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

  /// Whether the message has a MESSAGE-INTEGRITY that was computed with the key.
  package func isAuthentic(key: [UInt8]) -> Bool {
    guard let index = attributes.firstIndex(where: { $0.type == .messageIntegrity }) else { return false }
    return HMACSHA1.areEqual(attributes[index].value.readableBytesView, digest(before: index, key: key))
  }

  /// Whether the message ends with a valid FINGERPRINT; nil when it does not end with one.
  package var hasValidFingerprint: Bool? {
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

/// The CRC-32 of ISO 3309, as FINGERPRINT uses it (RFC 8489, 14.7).
enum CRC32 {
  static func checksum(of bytes: some Sequence<UInt8>) -> UInt32 {
    ~bytes.reduce(UInt32.max) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ ($0 >> 8) }
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
  }
}

/// HMAC-SHA1 (RFC 2104) by OpenSSL, the only cryptography of this module.
enum HMACSHA1 {
  static let length = 20

  /// Returns the 20 bytes of the code; none when OpenSSL refuses SHA-1, which then equals nothing.
  static func digest(of bytes: ByteBufferView, key: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: length)
    var written: UInt32 = 0
    let result = bytes.withUnsafeBytes { data in
      HMAC(
        EVP_sha1(), key, Int32(truncatingIfNeeded: key.count), data.bindMemory(to: UInt8.self).baseAddress,
        data.count, &digest, &written)
    }
    return result != nil && written == length ? digest : []
  }

  /// Compares in constant time, so that the duration does not reveal where the first difference is.
  static func areEqual(_ found: ByteBufferView, _ expected: [UInt8]) -> Bool {
    guard found.count == expected.count, expected.count == length else { return false }
    return zip(found, expected).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
