import Bitstream
import NIOCore
import Testing

@testable import RTP

/// The bytes of a text of hexadecimal digits; anything else in it is skipped.
func bytes(_ text: String) -> ByteBuffer {
  let digits = text.compactMap(\.hexDigitValue).map(UInt8.init)
  var buffer = ByteBuffer()
  for index in stride(from: 0, to: digits.count - 1, by: 2) {
    buffer.writeInteger(digits[index] << 4 | digits[index + 1])
  }
  return buffer
}

/// The bytes that a call writes.
func written(_ write: (inout ByteBuffer) -> Void) -> ByteBuffer {
  var buffer = ByteBuffer()
  write(&buffer)
  return buffer
}

/// The one packet that a datagram holds, after checking that writing it gives the datagram again.
func onlyPacket(_ datagram: ByteBuffer, sourceLocation: SourceLocation = #_sourceLocation) throws -> RTCPPacket {
  let packets = try RTCPPacket.parse(compound: datagram)
  #expect(written { RTCPPacket.write(packets, into: &$0) } == datagram, sourceLocation: sourceLocation)
  try #require(packets.count == 1, sourceLocation: sourceLocation)
  return packets[0]
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
