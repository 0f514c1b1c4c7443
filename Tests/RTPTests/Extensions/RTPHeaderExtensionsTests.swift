import NIOCore
import RTP
import TestSupport
import Testing

@Suite("RTP header extensions")
struct RTPHeaderExtensionsTests {
  /// Returns the extension of a packet that has only this one.
  private func parse(_ hex: String) throws -> RTPHeaderExtensions {
    var datagram = bytes("90 60 0001 00000002 00000003")
    datagram.writeImmutableBuffer(bytes(hex))
    let packet = try RTPPacket(parsing: datagram)
    #expect(written { packet.write(into: &$0) } == datagram)
    return packet.extensions
  }

  private func content(_ extensions: RTPHeaderExtensions) -> ByteBuffer {
    written { extensions.write(into: &$0) }
  }

  @Test("one-byte headers with padding in between are parsed as in RFC 8285, 4.2")
  func oneByteExample() throws {
    // ID 1 with 1 byte, ID 2 with 2, two bytes of padding, ID 3 with 4.
    let extensions = try parse("BEDE 0003 10AA 21BBCC 0000 33 DDEEFF11")
    #expect(extensions.elements.map(\.id) == [1, 2, 3])
    #expect(extensions[1] == bytes("AA"))
    #expect(extensions[2] == bytes("BBCC"))
    #expect(extensions[3] == bytes("DDEEFF11"))
    #expect(extensions[4] == nil)
  }

  @Test("two-byte headers with an empty element are parsed as in RFC 8285, 4.3")
  func twoByteExample() throws {
    let extensions = try parse("1000 0003 0100 0201BB 00 0304DDEEFF11")
    #expect(extensions.elements.map(\.id) == [1, 2, 3])
    #expect(extensions[1] == ByteBuffer())
    #expect(extensions[2] == bytes("BB"))
    #expect(extensions[3] == bytes("DDEEFF11"))
  }

  @Test("the application bits of the two-byte profile are ignored and kept")
  func applicationBits() throws {
    var extensions = try parse("1005 0001 0101AA00")
    #expect(extensions[1] == bytes("AA"))
    extensions[2] = bytes("BB")
    #expect(content(extensions) == bytes("1005 0002 0101AA 0201BB 0000"))
  }

  @Test("an element with id 15 ends a list of one-byte headers")
  func identifierFifteen() throws {
    let extensions = try parse("BEDE 0002 10AA F0BB 20CC 0000")
    #expect(extensions.elements.map(\.id) == [1])
  }

  @Test("an element that is cut off is ignored, but those before it are parsed")
  func truncated() throws {
    #expect(try parse("BEDE 0001 10AA 27BB").elements.map(\.id) == [1])
    #expect(try parse("1000 0001 0101AA 02").elements.map(\.id) == [1])
    #expect(try parse("1000 0001 0200 01 05").elements.map(\.id) == [2])
  }

  @Test("an extension of an unknown profile is kept and has no elements")
  func unknownProfile() throws {
    let extensions = try parse("1234 0001 10AA0000")
    #expect(extensions.elements.isEmpty)
    #expect(extensions[1] == nil)
  }

  @Test("a value of the same length is overwritten")
  func replaceInPlace() throws {
    var extensions = try parse("BEDE 0002 10AA 00 21BBCC 30DD")
    extensions[2] = bytes("1122")
    #expect(content(extensions) == bytes("BEDE 0002 10AA 00 211122 30DD"))
  }

  @Test("a value of another length moves to the end")
  func replaceByAnotherLength() throws {
    var extensions = try parse("BEDE 0002 10AA 21BBCC 30DD 00")
    extensions[2] = bytes("112233")
    #expect(content(extensions) == bytes("BEDE 0002 10AA 30DD 22112233"))
  }

  @Test("a new element replaces the padding")
  func append() throws {
    var extensions = try parse("BEDE 0001 10AA0000")
    extensions[2] = bytes("BB")
    #expect(content(extensions) == bytes("BEDE 0001 10AA20BB"))
    extensions[3] = bytes("CC")
    #expect(content(extensions) == bytes("BEDE 0002 10AA20BB30CC0000"))
  }

  @Test("an element with a high id or a long value converts all headers to two-byte headers")
  func widen() {
    var high = RTPHeaderExtensions()
    high[1] = bytes("AA")
    high[15] = bytes("BB")
    #expect(content(high) == bytes("1000 0002 0101AA 0F01BB 0000"))

    var long = RTPHeaderExtensions()
    long[1] = bytes("AA")
    long[2] = ByteBuffer(repeating: 7, count: 17)
    #expect(long.profile == 0x1000)
    #expect(long[1] == bytes("AA"))
    #expect(long[2]?.readableBytes == 17)

    var empty = RTPHeaderExtensions()
    empty[3] = ByteBuffer()
    #expect(content(empty) == bytes("1000 0001 03000000"))
  }

  @Test("a value that no element can hold is not stored")
  func impossible() {
    var extensions = RTPHeaderExtensions()
    extensions[0] = bytes("AA")
    extensions[1] = ByteBuffer(repeating: 7, count: 256)
    #expect(!extensions.isPresent)
    #expect(extensions.byteCount == 0)
    extensions[255] = ByteBuffer(repeating: 7, count: 255)
    #expect(extensions[255]?.readableBytes == 255)
  }

  @Test("setting nil removes an element and keeps the others")
  func remove() throws {
    var extensions = try parse("BEDE 0002 10AA 21BBCC 30DD 00")
    extensions[2] = nil
    #expect(content(extensions) == bytes("BEDE 0001 10AA30DD"))
    extensions[2] = nil
    #expect(content(extensions) == bytes("BEDE 0001 10AA30DD"))
  }

  @Test("setting an element replaces an extension of an unknown profile")
  func replaceUnknownProfile() throws {
    var extensions = try parse("1234 0001 10AA0000")
    extensions[1] = bytes("BB")
    #expect(content(extensions) == bytes("BEDE 0001 10BB0000"))
  }

  @Test("changing a copy of a packet does not change the original")
  func copyOnWrite() throws {
    let original = try RTPPacket(parsing: Fixture.bytes("rtp/opus.bin", in: .module))
    var copy = original
    copy.extensions.setTransportSequenceNumber(0xFFFF, 3)
    #expect(original.extensions.transportSequenceNumber(3) == 1)
    #expect(copy.extensions.transportSequenceNumber(3) == 0xFFFF)
  }
}
