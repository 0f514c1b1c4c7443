/// Base64 (RFC 4648, 4) of a description's parameters.
enum Base64 {
  /// Returns the bytes; nil if the text has other characters, or an impossible length. The padding may be missing.
  static func decode(_ text: String) -> [UInt8]? {
    var digits = Substring(text).utf8
    var padding = 0
    while padding < 2, digits.last == UInt8(ascii: "=") {
      digits.removeLast()
      padding += 1
    }
    let count = digits.count
    guard count % 4 != 1, padding == 0 || (count + padding) % 4 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count / 4 * 3 + 2)
    var (bits, length) = (UInt32(0), 0)
    for digit in digits {
      guard let value = value(of: digit) else { return nil }
      bits = (bits << 6 | UInt32(value)) & 0xFFFF
      length += 6
      guard length >= 8 else { continue }
      length -= 8
      bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(length)))
    }
    return bytes
  }

  private static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
