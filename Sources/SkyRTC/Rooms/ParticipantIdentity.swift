import COpenSSL
import FoundationEssentials

/// A participant's id, and the secret with which they reclaim it after a lost connection. Pure except for the random
/// numbers.
///
/// The id is derived from the secret by SHA-256. The server therefore needs no memory of participants who left, a
/// server that replaces it recognises them too, and the id does not reveal the secret.
package struct ParticipantIdentity: Sendable, Hashable {
  /// A UUID in lower case (RFC 9562, version 8).
  package let id: String
  /// 32 lower-case hexadecimal digits: 128 random bits. Only the participant and the server know it.
  package let secret: String

  /// Creates a new identity.
  package init() {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<Self.secretLength).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    self.init(bytes: bytes)
  }

  /// Verifies the identity of a participant who returns.
  ///
  /// - Returns: nil if the secret is malformed or does not belong to the id.
  package init?(id: String, secret: String) {
    var bytes: [UInt8] = []
    var digits = Array(secret.utf8)[...]
    guard digits.count == 2 * Self.secretLength else { return nil }
    while let high = digits.popFirst(), let low = digits.popFirst() {
      guard let high = Self.value(ofDigit: high), let low = Self.value(ofDigit: low) else { return nil }
      bytes.append(high << 4 | low)
    }
    self.init(bytes: bytes)
    // Compared in constant time, although a partly guessed id reveals nothing about its secret.
    let (claimed, known) = (Array(id.utf8), Array(self.id.utf8))
    guard claimed.count == known.count else { return nil }
    let difference = zip(claimed, known).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) }
    if difference != 0 { return nil }
  }

  private init(bytes: [UInt8]) {
    let input = Array("skyrtc participant:".utf8) + bytes
    var digest = [UInt8](repeating: 0, count: 32)
    _ = SHA256(input, input.count, &digest)
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    let parts = [digest[0..<4], digest[4..<6], digest[6..<8], digest[8..<10], digest[10..<16]]
    id = parts.map(Self.hexadecimal).joined(separator: "-")
    secret = Self.hexadecimal(bytes[...])
  }

  private static let secretLength = 16

  private static func hexadecimal(_ bytes: ArraySlice<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  private static func value(ofDigit digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
