import Bitstream
import NIOCore

/// The bytes of a text of hexadecimal digits; anything else in it is skipped.
func bytes(_ text: String) -> ByteBuffer {
  let digits = text.compactMap(\.hexDigitValue).map(UInt8.init)
  return ByteBuffer(bytes: stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
}

/// What an error says.
func sentence(_ body: () throws(ParseError) -> Void) -> String {
  do {
    try body()
    return "no error"
  } catch {
    return error.description
  }
}
