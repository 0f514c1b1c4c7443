/// `a=fingerprint`: the digest of a certificate (RFC 8122, 5).
package struct Fingerprint: Sendable, Hashable {
  /// The name of the hash function in lower case, for example `sha-256`.
  package var algorithm: String
  package var digest: [UInt8]

  package init(algorithm: String, digest: [UInt8]) {
    self.algorithm = algorithm
    self.digest = digest
  }

  /// Parses for example `sha-256 4A:AD:…`; nil if that is not a name and hexadecimal bytes, or if the number of bytes
  /// is wrong for SHA-1 or SHA-2.
  package init?(parsing text: String) {
    let fields = text.fields()
    guard fields.count == 2 else { return nil }
    algorithm = fields[0].lowercased()
    digest = []
    for pair in fields[1].fields(separatedBy: ":", keepingEmpty: true) {
      let digits = pair.utf8.compactMap(Self.digit)
      guard digits.count == 2, pair.utf8.count == 2 else { return nil }
      digest.append(digits[0] << 4 | digits[1])
    }
    if let length = Self.lengths[algorithm], length != digest.count { return nil }
  }

  private static let lengths = ["sha-1": 20, "sha-224": 28, "sha-256": 32, "sha-384": 48, "sha-512": 64]

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    default: nil
    }
  }

  /// For example `sha-256 4A:AD:…`, in capitals as the RFC requires.
  package var text: String {
    let digits = Array("0123456789ABCDEF".unicodeScalars)
    var text = "\(algorithm) "
    for (position, byte) in digest.enumerated() {
      if position > 0 { text += ":" }
      text.unicodeScalars.append(digits[Int(byte >> 4)])
      text.unicodeScalars.append(digits[Int(byte & 15)])
    }
    return text
  }
}
