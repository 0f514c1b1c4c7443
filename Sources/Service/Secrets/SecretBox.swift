internal import COpenSSL
import FoundationEssentials
import Glibc
import OptionValues

/// Encrypts secrets for the database with AES-256-GCM (NIST SP 800-38D) under the key of a file. No description contains the key.
///
/// A sealed secret is a version byte, a random nonce of 12 bytes, the ciphertext and a tag of 16 bytes. The context, such as the id
/// of the job, is authenticated with it: a secret that is copied to another row cannot be opened there.
package struct SecretBox: Sendable, CustomStringConvertible, CustomReflectable {
  private let key: [UInt8]

  private static let version: UInt8 = 1
  private static let nonceBytes = 12
  private static let tagBytes = 16
  package static let keyBytes = 32
  /// The maximum size of a secret, which is that of a request.
  package static let maximumBytes = 65_536

  /// - Parameter key: 32 bytes; nil for another number.
  package init?(key: [UInt8]) {
    guard key.count == Self.keyBytes else { return nil }
    self.key = key
  }

  /// Why a secret cannot be sealed or opened.
  package enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
    case tooLarge
    /// The sealed bytes were changed, belong to another context, or were sealed with another key.
    case notAuthentic
    case library
    case file(String)

    package var description: String {
      switch self {
      case .tooLarge: "A secret has at most \(SecretBox.maximumBytes) bytes."
      case .notAuthentic: "The secret was encrypted with another key, or was changed."
      case .library: "The secret cannot be encrypted or decrypted."
      case .file(let sentence): sentence
      }
    }
  }

  /// Encrypts a secret.
  package func seal(_ secret: [UInt8], context: String) throws(Failure) -> [UInt8] {
    guard secret.count <= Self.maximumBytes else { throw .tooLarge }
    var nonce = [UInt8](repeating: 0, count: Self.nonceBytes)
    guard RAND_bytes(&nonce, Int32(nonce.count)) == 1, let cipher = Cipher(isEncrypting: true, key: key, nonce: nonce),
      cipher.authenticate(Array(context.utf8)), let ciphertext = cipher.update(secret), cipher.finish(),
      let tag = cipher.tag(Self.tagBytes)
    else { throw .library }
    return [Self.version] + nonce + ciphertext + tag
  }

  /// Decrypts a sealed secret.
  package func open(_ sealed: [UInt8], context: String) throws(Failure) -> [UInt8] {
    let overhead = 1 + Self.nonceBytes + Self.tagBytes
    guard sealed.count >= overhead, sealed.count <= Self.maximumBytes + overhead, sealed[0] == Self.version else {
      throw .notAuthentic
    }
    let nonce = Array(sealed[1..<1 + Self.nonceBytes])
    let ciphertext = Array(sealed[(1 + Self.nonceBytes)..<(sealed.count - Self.tagBytes)])
    guard let cipher = Cipher(isEncrypting: false, key: key, nonce: nonce), cipher.authenticate(Array(context.utf8)),
      let secret = cipher.update(ciphertext), cipher.setTag(Array(sealed.suffix(Self.tagBytes)))
    else { throw .library }
    guard cipher.finish() else { throw .notAuthentic }
    return secret
  }

  /// Returns a digest that nobody can compute without the key: HMAC-SHA-256 (RFC 2104). Whoever reads it cannot try which
  /// short secret, such as a PIN, the message has.
  package func digest(of message: [UInt8], context: String) throws(Failure) -> SHA256Digest {
    let input = Array(context.utf8) + [0] + message
    var digest = [UInt8](repeating: 0, count: SHA256Digest.byteCount)
    var count: UInt32 = 0
    guard HMAC(EVP_sha256(), key, Int32(key.count), input, input.count, &digest, &count) != nil,
      let digest = SHA256Digest(bytes: digest)
    else { throw .library }
    return digest
  }

  package var description: String { "a key of 256 bits" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension SecretBox {
  /// Reads the file of the key, 64 hexadecimal digits, or makes it with a random one. Blocks while it reads.
  ///
  /// - Throws: `Failure.file` if the file has something else, or if others may read it.
  package static func load(_ path: String) throws(Failure) -> SecretBox {
    if let made = try make(path) { return made }
    if let sentence = PrivateFile.problem(path) { throw .file(sentence) }
    do throws(BoundedFile.ReadError) {
      let text = String(decoding: try BoundedFile.read(path, longest: 1_024), as: UTF8.self)
      let words = text.split(whereSeparator: \.isWhitespace)
      if words.count == 1, let digest = SHA256Digest(hexadecimal: words[0]), let box = SecretBox(key: digest.bytes) {
        return box
      }
    } catch {
      throw .file(error.sentence)
    }
    throw .file("\(path) must contain a key of 64 hexadecimal digits.")
  }

  /// Makes the file; nil if there is one already.
  private static func make(_ path: String) throws(Failure) -> SecretBox? {
    var key = [UInt8](repeating: 0, count: keyBytes)
    guard RAND_bytes(&key, Int32(key.count)) == 1, let box = SecretBox(key: key) else { throw .library }
    let digits = Array("0123456789abcdef".utf8)
    let text = String(decoding: key.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self) + "\n"
    do throws(PrivateFile.WriteError) {
      return try PrivateFile.create(path, text) ? box : nil
    } catch {
      throw .file(error.description)
    }
  }
}

/// A context of OpenSSL for one message.
private final class Cipher {
  private let context: OpaquePointer
  private let isEncrypting: Bool

  init?(isEncrypting: Bool, key: [UInt8], nonce: [UInt8]) {
    guard let context = EVP_CIPHER_CTX_new() else { return nil }
    self.context = context
    self.isEncrypting = isEncrypting
    // The nonce has the 12 bytes that GCM takes without being told.
    guard EVP_CipherInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce, isEncrypting ? 1 : 0) == 1 else { return nil }
  }

  deinit { EVP_CIPHER_CTX_free(context) }

  func authenticate(_ bytes: [UInt8]) -> Bool {
    var count: Int32 = 0
    return EVP_CipherUpdate(context, nil, &count, bytes, Int32(bytes.count)) == 1
  }

  func update(_ bytes: [UInt8]) -> [UInt8]? {
    var output = [UInt8](repeating: 0, count: bytes.count + 16)
    var count: Int32 = 0
    guard EVP_CipherUpdate(context, &output, &count, bytes, Int32(bytes.count)) == 1 else { return nil }
    return Array(output.prefix(Int(count)))
  }

  func finish() -> Bool {
    var rest = [UInt8](repeating: 0, count: 16)
    var count: Int32 = 0
    return EVP_CipherFinal_ex(context, &rest, &count) == 1
  }

  func tag(_ count: Int) -> [UInt8]? {
    var tag = [UInt8](repeating: 0, count: count)
    return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(count), &tag) == 1 ? tag : nil
  }

  func setTag(_ tag: [UInt8]) -> Bool {
    var tag = tag
    return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1
  }
}
