import COpenSSL
import NIOCore

/// A user name and a password for a TURN server: a long-term credential (RFC 8489, 9.2).
///
/// Both are used as they are: text that is not ASCII must already be prepared as RFC 8265 requires. The password never
/// appears in a description.
package struct TURNCredentials: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// At most 508 bytes (RFC 8489, 14.3).
  package let username: String
  package let password: String

  package init(username: String, password: String) {
    self.username = username
    self.password = password
  }

  package static let maximumUsernameLength = 508

  /// Whether the user name contains a time, as in ``TURNRestCredentials``, before or after the name.
  package var isTimeLimited: Bool {
    let fields = username.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    return fields.contains { field in
      (9...12).contains(field.count) && field.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
  }

  /// The user name, without the password.
  package var description: String { "\(username) with a hidden password" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: ["username": username]) }

  /// Returns the key of MESSAGE-INTEGRITY: the hash of `username:realm:password` (RFC 8489, 9.2.2). Empty when OpenSSL
  /// refuses the hash.
  package func key(realm: String, algorithm: TURNPasswordAlgorithm) -> [UInt8] {
    let text = Array("\(username):\(realm):\(password)".utf8)
    let hash = algorithm == .md5 ? EVP_md5() : EVP_sha256()
    let length = algorithm == .md5 ? 16 : 32
    var digest = [UInt8](repeating: 0, count: length)
    var written: UInt32 = 0
    guard EVP_Digest(text, text.count, &digest, &written, hash, nil) == 1, written == length else { return [] }
    return digest
  }
}

/// How a password becomes a key (RFC 8489, 18.5).
package enum TURNPasswordAlgorithm: UInt16, Sendable, Hashable {
  case md5 = 1
  case sha256 = 2
}

/// Time-limited credentials from a secret that an application shares with a TURN server
/// (draft-uberti-behave-turn-rest-00, 2.2): the user name is `expiry:name`, the password is the base64 text of
/// HMAC-SHA1(secret, user name).
package struct TURNRestCredentials: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  private let secret: [UInt8]

  package init(secret: String) {
    self.secret = Array(secret.utf8)
  }

  /// Returns the credentials that the server accepts until a time.
  ///
  /// - Parameters:
  ///   - name: any name, for the server's log; the user name is only the expiry if it is empty.
  ///   - expiry: seconds since 1970 in UTC.
  package func credentials(name: String, expiry: Int64) -> TURNCredentials {
    let username = name.isEmpty ? "\(expiry)" : "\(expiry):\(name)"
    let code = HMACSHA1.digest(of: ByteBuffer(string: username).readableBytesView, key: secret)
    return TURNCredentials(username: username, password: Self.base64(code))
  }

  package var description: String { "a hidden TURN secret" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }

  private static func base64(_ bytes: [UInt8]) -> String {
    // Four characters for each three bytes, and a zero that OpenSSL appends.
    var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
    let count = EVP_EncodeBlock(&text, bytes, Int32(truncatingIfNeeded: bytes.count))
    return String(decoding: text.prefix(max(0, Int(count))), as: UTF8.self)
  }
}
