internal import COpenSSL

/// An incremental SHA-256 (FIPS 180-4) by OpenSSL, for one thread.
package final class ObjectDigest {
  private let context: OpaquePointer?
  private var isUsable: Bool

  package init() {
    context = EVP_MD_CTX_new()
    isUsable = context != nil && EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1
  }

  deinit { EVP_MD_CTX_free(context) }

  package func update(_ bytes: UnsafeRawBufferPointer) {
    guard isUsable, !bytes.isEmpty else { return }
    isUsable = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
  }

  /// Ends the calculation.
  ///
  /// - Returns: 64 small hexadecimal digits; nil if OpenSSL fails, for lack of memory for example.
  package func end() -> String? {
    var bytes = [UInt8](repeating: 0, count: 32)
    guard isUsable, EVP_DigestFinal_ex(context, &bytes, nil) == 1 else { return nil }
    isUsable = false
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// Returns the digest of bytes: 64 small hexadecimal digits, or an empty text, which equals no digest, if OpenSSL fails.
  package static func hex(of bytes: [UInt8]) -> String {
    let digest = ObjectDigest()
    bytes.withUnsafeBytes { digest.update($0) }
    return digest.end() ?? ""
  }
}
