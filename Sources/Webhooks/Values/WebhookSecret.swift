internal import COpenSSL
internal import FoundationEssentials

/// A secret that signs webhooks (Standard Webhooks 1.0, “Signature scheme”): `whsec_` and base64 of 24 to 64 bytes.
package struct WebhookSecret: Sendable, Hashable {
  private let key: [UInt8]

  package static let prefix = "whsec_"
  package static let byteCounts = 24...64

  /// - Parameter text: nil for another text.
  package init?(_ text: some StringProtocol) {
    let bytes = Array(text.utf8)
    guard bytes.count <= 200, bytes.starts(with: Self.prefix.utf8),
      let key = Data(base64Encoded: Data(bytes.dropFirst(Self.prefix.utf8.count))), Self.byteCounts.contains(key.count)
    else { return nil }
    self.key = Array(key)
  }

  /// Returns a signature, `v1,` and base64 of HMAC-SHA-256 (RFC 2104).
  ///
  /// - Parameter content: the id, the timestamp and the body, with points between them.
  func signature(of content: [UInt8]) -> String? {
    var digest = [UInt8](repeating: 0, count: 32)
    var count: UInt32 = 0
    guard HMAC(EVP_sha256(), key, Int32(key.count), content, content.count, &digest, &count) != nil, count == 32 else {
      return nil
    }
    return "v1,\(Data(digest).base64EncodedString())"
  }

  /// A new secret of 32 random bytes as text; nil if the system gives none.
  package static func randomText() -> String? {
    var key = [UInt8](repeating: 0, count: 32)
    guard RAND_bytes(&key, Int32(key.count)) == 1 else { return nil }
    return prefix + Data(key).base64EncodedString()
  }
}

/// The secrets of a file: one, or two while a receiver changes from the former to the next. Each signs.
package struct WebhookSecretList: Sendable, Hashable {
  package let secrets: [WebhookSecret]

  package static let maximumFileBytes = 4_096
  package static let maximumSecrets = 2

  package struct ParseError: Error, Sendable, Hashable {
    /// The first line is 1.
    package var line: Int
    /// A sentence without any part of a secret.
    package var sentence: String
  }

  package init(_ secret: WebhookSecret) { secrets = [secret] }

  /// Reads a file: a secret in each line; empty lines and those that begin with `#` have no meaning.
  package init(parsing text: String) throws(ParseError) {
    var secrets: [WebhookSecret] = []
    var count = 0
    for line in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      count += 1
      let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D }
      let trimmed = Array(line.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
      if trimmed.isEmpty || trimmed.first == UInt8(ascii: "#") { continue }
      guard let secret = WebhookSecret(String(decoding: trimmed, as: UTF8.self)) else {
        throw ParseError(
          line: count, sentence: "A secret is \(WebhookSecret.prefix) and base64 of 24 to 64 bytes.")
      }
      guard secrets.count < Self.maximumSecrets else {
        throw ParseError(line: count, sentence: "There are more than \(Self.maximumSecrets) secrets.")
      }
      secrets.append(secret)
    }
    guard !secrets.isEmpty else { throw ParseError(line: 1, sentence: "There is no secret.") }
    self.secrets = secrets
  }
}
