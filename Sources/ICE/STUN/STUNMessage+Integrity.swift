import COpenSSL
package import NIOCore

/// MESSAGE-INTEGRITY (RFC 8489, 14.5), MESSAGE-INTEGRITY-SHA256 (14.6) and FINGERPRINT (14.7): added when a message is
/// finished, verified before it is trusted. Writing a parsed message returns the received bytes, so all are computed
/// from the message itself.
extension STUNMessage {
  /// Bytes of the three attributes, including their headers.
  private static let integrityLength = 24
  private static let integritySHA256Length = 36
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

  package mutating func appendIntegritySHA256(key: [UInt8]) {
    attributes.append(
      STUNAttribute(
        .messageIntegritySHA256, value: ByteBuffer(bytes: digestSHA256(before: attributes.endIndex, key: key))))
  }

  package mutating func appendFingerprint() {
    attributes.append(STUNAttribute(.fingerprint, value: ByteBuffer(integer: checksum(before: attributes.endIndex))))
  }

  /// Whether the message has a MESSAGE-INTEGRITY that was computed with the key.
  package func isAuthentic(key: [UInt8]) -> Bool {
    guard let index = attributes.firstIndex(where: { $0.type == .messageIntegrity }) else { return false }
    return HMACSHA1.areEqual(attributes[index].value.readableBytesView, digest(before: index, key: key))
  }

  /// Whether the message has a MESSAGE-INTEGRITY-SHA256 of all 32 bytes that was computed with the key. Truncated
  /// values are not accepted (RFC 8489, 14.6: only a usage that allows them).
  package func isAuthenticSHA256(key: [UInt8]) -> Bool {
    guard let index = attributes.firstIndex(where: { $0.type == .messageIntegritySHA256 }) else { return false }
    return HMACSHA256.areEqual(attributes[index].value.readableBytesView, digestSHA256(before: index, key: key))
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

  private func digestSHA256(before index: Int, key: [UInt8]) -> [UInt8] {
    var prefix = ByteBuffer()
    write(attributes[..<index], extraLength: Self.integritySHA256Length, into: &prefix)
    return HMACSHA256.digest(of: prefix.readableBytesView, key: key)
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

/// HMAC-SHA1 (RFC 2104) by OpenSSL.
enum HMACSHA1 {
  static let length = 20

  /// Returns the 20 bytes of the code; none when OpenSSL refuses SHA-1, which then equals nothing.
  static func digest(of bytes: ByteBufferView, key: [UInt8]) -> [UInt8] {
    HMACCode.digest(of: bytes, key: key, hash: EVP_sha1(), length: length)
  }

  /// Compares in constant time, so that the duration does not reveal where the first difference is.
  static func areEqual(_ found: ByteBufferView, _ expected: [UInt8]) -> Bool {
    HMACCode.areEqual(found, expected, length: length)
  }
}

/// HMAC-SHA256 (RFC 2104) by OpenSSL.
enum HMACSHA256 {
  static let length = 32

  /// Returns the 32 bytes of the code; none when OpenSSL refuses SHA-256, which then equals nothing.
  static func digest(of bytes: ByteBufferView, key: [UInt8]) -> [UInt8] {
    HMACCode.digest(of: bytes, key: key, hash: EVP_sha256(), length: length)
  }

  /// Compares in constant time.
  static func areEqual(_ found: ByteBufferView, _ expected: [UInt8]) -> Bool {
    HMACCode.areEqual(found, expected, length: length)
  }
}

private enum HMACCode {
  static func digest(of bytes: ByteBufferView, key: [UInt8], hash: OpaquePointer?, length: Int) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: length)
    var written: UInt32 = 0
    let result = bytes.withUnsafeBytes { data in
      HMAC(
        hash, key, Int32(truncatingIfNeeded: key.count), data.bindMemory(to: UInt8.self).baseAddress, data.count,
        &digest, &written)
    }
    return result != nil && written == length ? digest : []
  }

  static func areEqual(_ found: ByteBufferView, _ expected: [UInt8], length: Int) -> Bool {
    guard found.count == expected.count, expected.count == length else { return false }
    return zip(found, expected).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
