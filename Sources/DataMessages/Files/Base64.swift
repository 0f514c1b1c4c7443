import NIOCore

/// Encodes base64 (RFC 4648, 4) piece by piece: the pieces joined are the encoding of all bytes.
struct Base64Encoder: Sendable {
  /// The 0 to 2 bytes that have no complete group yet.
  private var rest: [UInt8] = []

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Writes the characters of all complete groups of three bytes.
  mutating func encode(_ bytes: ByteBuffer, into output: inout ByteBuffer) {
    output.reserveCapacity(output.writerIndex + (bytes.readableBytes + 2) / 3 * 4)
    for byte in bytes.readableBytesView {
      rest.append(byte)
      if rest.count == 3 {
        output.writeBytes(Self.group(rest[0], rest[1], rest[2]))
        rest.removeAll(keepingCapacity: true)
      }
    }
  }

  /// Writes the last group with its padding.
  mutating func finish(into output: inout ByteBuffer) {
    if rest.count == 1 {
      output.writeBytes(Self.group(rest[0], 0, 0).prefix(2) + [UInt8(ascii: "="), UInt8(ascii: "=")])
    } else if rest.count == 2 {
      output.writeBytes(Self.group(rest[0], rest[1], 0).prefix(3) + [UInt8(ascii: "=")])
    }
    rest = []
  }

  /// The number of characters of so many bytes.
  static func length(ofBytes count: Int64) -> Int64 {
    (count + 2) / 3 * 4
  }

  private static func group(_ one: UInt8, _ two: UInt8, _ three: UInt8) -> [UInt8] {
    [
      alphabet[Int(one >> 2)], alphabet[Int((one & 0x03) << 4 | two >> 4)],
      alphabet[Int((two & 0x0F) << 2 | three >> 6)], alphabet[Int(three & 0x3F)],
    ]
  }
}

/// Decodes base64 piece by piece. The padding is required, as browsers write it.
struct Base64Decoder: Sendable {
  /// The bits of an incomplete group, and how many of its 4 characters there are.
  private var bits: UInt32 = 0
  private var count = 0
  private var padding = 0

  /// Appends the bytes of all complete groups. Returns false at the first character that is not valid there.
  mutating func decode(_ characters: some Sequence<UInt8>, into output: inout ByteBuffer) -> Bool {
    for character in characters {
      let value: UInt32
      switch character {
      case UInt8(ascii: "="):
        // Only the third and fourth character of the last group can be padding.
        guard count >= 2, padding < 2 else { return false }
        padding += 1
        value = 0
      case _ where padding > 0: return false
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = UInt32(character - UInt8(ascii: "A"))
      case UInt8(ascii: "a")...UInt8(ascii: "z"): value = UInt32(character - UInt8(ascii: "a")) + 26
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = UInt32(character - UInt8(ascii: "0")) + 52
      case UInt8(ascii: "+"): value = 62
      case UInt8(ascii: "/"): value = 63
      default: return false
      }
      bits = bits << 6 | value
      count += 1
      guard count == 4 else { continue }
      let bytes = [UInt8(bits >> 16 & 0xFF), UInt8(bits >> 8 & 0xFF), UInt8(bits & 0xFF)]
      // The unused bits of the last group must be zero (RFC 4648, 3.5).
      guard bytes.suffix(padding).allSatisfy({ $0 == 0 }) else { return false }
      output.writeBytes(bytes.prefix(3 - padding))
      (bits, count) = (0, 0)
    }
    return true
  }

  /// Whether no group is incomplete.
  var isComplete: Bool { count == 0 }
}
