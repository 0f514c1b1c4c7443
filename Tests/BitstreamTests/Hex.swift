import Bitstream
import NIOCore

/// Returns the bytes of hexadecimal text; other characters are ignored.
func bytes(_ text: String) -> ByteBuffer {
  let digits = text.compactMap(\.hexDigitValue).map(UInt8.init)
  return ByteBuffer(bytes: stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
}

/// Returns the message of the error that `body` throws.
func sentence(_ body: () throws(ParseError) -> Void) -> String {
  do {
    try body()
    return "no error"
  } catch {
    return error.description
  }
}
