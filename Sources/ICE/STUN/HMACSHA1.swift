import COpenSSL
import NIOCore

/// HMAC-SHA1 (RFC 2104) by OpenSSL: the only cryptography of this room.
enum HMACSHA1 {
  static let length = 20

  /// The 20 bytes of the code; none when OpenSSL refuses SHA-1, which then equals nothing.
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

  /// Compares in a time that does not tell where the first difference lies.
  static func areEqual(_ found: ByteBufferView, _ expected: [UInt8]) -> Bool {
    guard found.count == expected.count, expected.count == length else { return false }
    return zip(found, expected).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
