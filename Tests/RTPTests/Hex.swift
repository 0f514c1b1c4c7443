import Bitstream
import NIOCore
import RTP
import Testing

/// Returns the bytes of hexadecimal text; other characters are ignored.
func bytes(_ text: String) -> ByteBuffer {
  let digits = text.compactMap(\.hexDigitValue).map(UInt8.init)
  var buffer = ByteBuffer()
  for index in stride(from: 0, to: digits.count - 1, by: 2) {
    buffer.writeInteger(digits[index] << 4 | digits[index + 1])
  }
  return buffer
}

/// Returns the bytes that `write` writes.
func written(_ write: (inout ByteBuffer) -> Void) -> ByteBuffer {
  var buffer = ByteBuffer()
  write(&buffer)
  return buffer
}

/// Returns the only packet of a datagram, after checking that writing it returns the same datagram.
func onlyPacket(_ datagram: ByteBuffer, sourceLocation: SourceLocation = #_sourceLocation) throws -> RTCPPacket {
  let packets = try RTCPPacket.parse(compound: datagram)
  #expect(written { RTCPPacket.write(packets, into: &$0) } == datagram, sourceLocation: sourceLocation)
  try #require(packets.count == 1, sourceLocation: sourceLocation)
  return packets[0]
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
