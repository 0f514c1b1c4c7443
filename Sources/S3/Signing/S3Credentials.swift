package import ObjectStore

/// With what requests are signed. No description contains it.
package struct S3Credentials: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  package let accessKeyID: String
  package let secretAccessKey: String
  package let sessionToken: String?
  /// Nil if they do not end.
  package let expiresAt: UTCTime?

  /// - Returns: nil if a text is empty, longer than 16 KiB, or has something else than visible ASCII: it would not be safe in a header.
  package init?(
    accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil, expiresAt: UTCTime? = nil
  ) {
    for text in [accessKeyID, secretAccessKey, sessionToken ?? "-"] {
      guard (1...16_384).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
        return nil
      }
    }
    self.accessKeyID = accessKeyID
    self.secretAccessKey = secretAccessKey
    self.sessionToken = sessionToken
    self.expiresAt = expiresAt
  }

  package var description: String { "credentials" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
