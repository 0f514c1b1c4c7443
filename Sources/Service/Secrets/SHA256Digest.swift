internal import COpenSSL

/// A SHA-256 digest (FIPS 180-4) by OpenSSL.
package struct SHA256Digest: Sendable, Hashable {
  package static let byteCount = 32

  /// 32 bytes.
  package let bytes: [UInt8]

  package init(of message: some Sequence<UInt8>) {
    let message = Array(message)
    var digest = [UInt8](repeating: 0, count: Self.byteCount)
    // It fails only without memory. Zeros equal the digest of nothing that anybody knows.
    _ = EVP_Digest(message, message.count, &digest, nil, EVP_sha256(), nil)
    bytes = digest
  }

  /// - Parameter bytes: 32 bytes; nil for another number.
  init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }

  /// - Parameter hexadecimal: 64 hexadecimal digits; nil for another text.
  package init?(hexadecimal: some StringProtocol) {
    let digits = hexadecimal.utf8.map { byte -> UInt8? in
      switch byte {
      case 0x30...0x39: byte - 0x30
      case 0x41...0x46: byte - 0x41 + 10
      case 0x61...0x66: byte - 0x61 + 10
      default: nil
      }
    }
    guard digits.count == 2 * Self.byteCount else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[index], let low = digits[index + 1] else { return nil }
      bytes.append(high << 4 | low)
    }
    self.bytes = bytes
  }

  /// 64 lower-case hexadecimal digits.
  package var hexadecimal: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// Compares in a time that does not depend on where they differ.
  package func isEqual(to other: SHA256Digest) -> Bool { CRYPTO_memcmp(bytes, other.bytes, Self.byteCount) == 0 }
}
