/// Base 64 (RFC 4648, section 4).
enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  static func text(_ bytes: [UInt8]) -> String {
    let count = (bytes.count + 2) / 3 * 4
    return String(unsafeUninitializedCapacity: count) { text in
      var place = 0
      for start in stride(from: 0, to: bytes.count, by: 3) {
        let left = bytes.count - start
        let second = left > 1 ? bytes[start + 1] : 0
        let third = left > 2 ? bytes[start + 2] : 0
        let word = Int(bytes[start]) << 16 | Int(second) << 8 | Int(third)
        text[place] = alphabet[word >> 18]
        text[place + 1] = alphabet[word >> 12 & 63]
        text[place + 2] = left > 1 ? alphabet[word >> 6 & 63] : UInt8(ascii: "=")
        text[place + 3] = left > 2 ? alphabet[word & 63] : UInt8(ascii: "=")
        place += 4
      }
      return count
    }
  }
}
