/// Writes any text, such as the id of a user, as a part of a key.
package enum KeyText {
  /// The longest part that is written. A longer one ends with a hash of the whole text.
  static let maximumBytes = 200
  /// The most bytes of the end of a name, from its last dot on, that a shortened part keeps.
  private static let maximumEndingBytes = 16
  private static let hashDigits = 24

  /// Whether a byte is written as it is.
  static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
      true
    default: false
    }
  }

  /// Returns one part: letters, digits, `-`, `_` and inner dots as they are, each other byte of UTF-8 as `=` and two hexadecimal
  /// digits. An empty text is `=`.
  ///
  /// A text whose part would have more than 200 bytes is cut, and a hash of it is appended, so that two texts never get
  /// the same part.
  package static func part(_ text: String) -> String {
    let encoded = encode(text.utf8)
    guard encoded.utf8.count > maximumBytes else { return encoded.isEmpty ? "=" : encoded }
    // The ending says what it is: `.webm` of a long name.
    var ending = ""
    if let dot = encoded.utf8.lastIndex(of: UInt8(ascii: ".")) {
      let last = encoded.utf8[dot...]
      if last.count <= maximumEndingBytes { ending = String(last) ?? "" }
    }
    let hash = ObjectDigest.hex(of: Array(text.utf8)).prefix(hashDigits)
    var stem = encoded.utf8.prefix(maximumBytes - ending.utf8.count - hashDigits - 1)
    // Half of an escaped byte is not kept.
    if let escape = stem.lastIndex(of: UInt8(ascii: "=")), stem.distance(from: escape, to: stem.endIndex) < 3 {
      stem = stem[..<escape]
    }
    return "\(String(stem) ?? "")-\(hash)\(ending)"
  }

  private static func encode(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var encoded: [UInt8] = []
    for byte in bytes {
      if isPlain(byte), byte != UInt8(ascii: ".") || !encoded.isEmpty {
        encoded.append(byte)
      } else {
        encoded += [UInt8(ascii: "="), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }
}
