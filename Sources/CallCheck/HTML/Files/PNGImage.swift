/// A small picture as PNG (ISO/IEC 15948): true colour, 8 bits, no filter.
///
/// The pixels are kept as they are, in stored blocks of DEFLATE: thumbnails are a few kilobytes.
enum PNGImage {
  /// - Parameter rgb: red, green and blue of each pixel, row by row.
  /// - Returns: nil when there are not as many bytes as the size says, or the size is not one of a thumbnail.
  static func bytes(width: Int, height: Int, rgb: [UInt8]) -> [UInt8]? {
    guard (1...4096).contains(width), (1...4096).contains(height), rgb.count == 3 * width * height else { return nil }
    var rows = [UInt8]()
    rows.reserveCapacity(height * (3 * width + 1))
    for row in 0..<height {
      rows.append(0)
      rows += rgb[row * 3 * width..<(row + 1) * 3 * width]
    }
    var header = number(width) + number(height)
    header += [8, 2, 0, 0, 0]
    let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    return signature + chunk("IHDR", header) + chunk("IDAT", stored(rows)) + chunk("IEND", [])
  }

  /// A zlib stream (RFC 1950) of stored blocks (RFC 1951, 3.2.4).
  private static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var stream: [UInt8] = [0x78, 0x01]
    let most = 65_535
    for start in stride(from: 0, to: bytes.count, by: most) {
      let block = bytes[start..<min(start + most, bytes.count)]
      let length = UInt16(block.count)
      stream.append(block.endIndex == bytes.count ? 1 : 0)
      for word in [length, ~length] { stream += [UInt8(word & 0xFF), UInt8(word >> 8)] }
      stream += block
    }
    var (low, high) = (1, 0)
    for byte in bytes {
      low = (low + Int(byte)) % 65_521
      high = (high + low) % 65_521
    }
    return stream + number(high << 16 | low)
  }

  private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    let body = Array(name.utf8) + content
    let remainder = body.reduce(UInt32.max) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ $0 >> 8 }
    return number(content.count) + body + number(Int(~remainder))
  }

  private static func number(_ value: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
  }

  /// CRC-32 of each byte (annex D).
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
  }
}
