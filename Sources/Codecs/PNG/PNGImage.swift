import CYUV
import Media

/// Writes a frame as a PNG file (PNG specification, third edition) of 8 bits for red, green and blue, without compression: for small
/// images.
package enum PNGImage {
  private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
  /// The maximum bytes of a stored block (RFC 1951, 3.2.4).
  private static let maximumBlock = 65_535

  /// - Returns: the file; nil if a plane of the frame is not of its size.
  package static func bytes(of frame: VideoFrame) -> [UInt8]? {
    guard let rows = rows(of: frame) else { return nil }
    var header = bigEndian(UInt32(frame.size.width)) + bigEndian(UInt32(frame.size.height))
    // 8 bits, colour, the usual methods of compression and filters, not interlaced.
    header += [8, 2, 0, 0, 0]
    return signature + chunk("IHDR", header) + chunk("IDAT", stored(rows)) + chunk("IEND", [])
  }

  /// The rows of pixels, each after a byte 0 for no filter.
  private static func rows(of frame: VideoFrame) -> [UInt8]? {
    guard frame.isWhole else { return nil }
    let (width, height) = (frame.size.width, frame.size.height)
    let (stride, colours) = (Int32(width), Int32(frame.colourStride))
    var pixels = [UInt8](repeating: 0, count: 3 * width * height)
    // libyuv calls the order red, green, blue "RAW".
    let code = pixels.withUnsafeMutableBufferPointer { pixels in
      frame.luma.withUnsafeBufferPointer { luma in
        frame.blue.withUnsafeBufferPointer { blue in
          frame.red.withUnsafeBufferPointer { red in
            I420ToRAW(
              luma.baseAddress, stride, blue.baseAddress, colours, red.baseAddress, colours, pixels.baseAddress,
              3 * stride, stride, Int32(height))
          }
        }
      }
    }
    guard code == 0 else { return nil }
    var rows: [UInt8] = []
    rows.reserveCapacity((3 * width + 1) * height)
    for row in 0..<height {
      rows.append(0)
      rows += pixels[(3 * width * row)..<(3 * width * (row + 1))]
    }
    return rows
  }

  /// A zlib stream (RFC 1950) of stored blocks.
  private static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var stream: [UInt8] = [0x78, 0x01]
    var start = 0
    repeat {
      let count = min(maximumBlock, bytes.count - start)
      let isLast = start + count == bytes.count
      stream += [
        isLast ? 1 : 0, UInt8(count & 0xFF), UInt8(count >> 8), UInt8(~count & 0xFF), UInt8(~count >> 8 & 0xFF),
      ]
      stream += bytes[start..<(start + count)]
      start += count
    } while start < bytes.count
    return stream + bigEndian(adler32(bytes))
  }

  private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
    let body = Array(type.utf8) + data
    return bigEndian(UInt32(data.count)) + body + bigEndian(crc32(body))
  }

  private static func bigEndian(_ value: UInt32) -> [UInt8] {
    [UInt8(value >> 24), UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
  }

  private static func adler32(_ bytes: [UInt8]) -> UInt32 {
    var (one, two): (UInt32, UInt32) = (1, 0)
    for byte in bytes {
      one = (one + UInt32(byte)) % 65_521
      two = (two + one) % 65_521
    }
    return two << 16 | one
  }

  /// The CRC of a chunk (PNG specification, annex D).
  private static func crc32(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(~0) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ $0 >> 8 }
  }

  private static let table: [UInt32] = (0..<256).map { number in
    (0..<8).reduce(UInt32(number)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
  }
}
