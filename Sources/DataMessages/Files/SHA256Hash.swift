internal import COpenSSL
package import NIOCore

/// An incremental SHA-256 (FIPS 180-4) by OpenSSL. A value: a copy continues on its own.
package struct SHA256Hash: Sendable {
  private var context: Context

  /// OpenSSL's state. It is changed only while one value refers to it.
  private final class Context: @unchecked Sendable {
    let pointer: OpaquePointer?
    /// False after a call has failed, for lack of memory or because SHA-256 is not available.
    var isUsable: Bool

    init() {
      pointer = EVP_MD_CTX_new()
      isUsable = pointer != nil && EVP_DigestInit_ex(pointer, EVP_sha256(), nil) == 1
    }

    init(copying other: Context) {
      pointer = EVP_MD_CTX_new()
      isUsable = pointer != nil && other.isUsable && EVP_MD_CTX_copy_ex(pointer, other.pointer) == 1
    }

    deinit { EVP_MD_CTX_free(pointer) }
  }

  package init() {
    context = Context()
  }

  /// Adds bytes.
  package mutating func update(_ bytes: ByteBuffer) {
    guard bytes.readableBytes > 0 else { return }
    if !isKnownUniquelyReferenced(&context) { context = Context(copying: context) }
    guard context.isUsable else { return }
    let context = context
    bytes.withUnsafeReadableBytes {
      if EVP_DigestUpdate(context.pointer, $0.baseAddress, $0.count) != 1 { context.isUsable = false }
    }
  }

  /// The digest of the bytes so far: 64 lower-case hexadecimal digits. Empty, which equals no digest, if OpenSSL fails.
  package var digest: String {
    let end = Context(copying: context)
    var bytes = [UInt8](repeating: 0, count: 32)
    guard end.isUsable, EVP_DigestFinal_ex(end.pointer, &bytes, nil) == 1 else { return "" }
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
