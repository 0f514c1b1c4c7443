import Bitstream
import NIOCore
import TestSupport
import Testing

@Suite("AV1 OBUs")
struct AV1OBUTests {
  @Test(
    "numbers of 7 bits a byte are read as they were written",
    arguments: [0, 1, 127, 128, 16_383, 16_384, 1 << 21, Int(UInt32.max)])
  func numbers(value: Int) throws {
    var bytes = ByteBuffer()
    LEB128.write(value, into: &bytes)
    #expect(bytes.readableBytes == LEB128.byteCount(of: value))
    bytes.writeInteger(7 as UInt8)
    #expect(try LEB128.read("A number", from: &bytes) == value)
    #expect(bytes.readableBytes == 1)
  }

  @Test("numbers may be longer than needed, up to 8 bytes, and end before 2^32")
  func longNumbers() throws {
    var padded = ByteBuffer(bytes: [0x85, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00])
    #expect(try LEB128.read("A number", from: &padded) == 5)
    let broken: [[UInt8]] = [
      [0x85, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00], [0xFF, 0xFF, 0xFF, 0xFF, 0x1F],
      [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], [0x80], [],
    ]
    for bytes in broken {
      var buffer = ByteBuffer(bytes: bytes)
      #expect(throws: ParseError.self) { try LEB128.read("A number", from: &buffer) }
    }
  }

  @Test("an OBU has a size, or takes what is left")
  func sizes() throws {
    // A frame of temporal layer 1 and spatial layer 2 with a size, and a tile group without.
    let unit = ByteBuffer(bytes: [0x36, 0x30, 2, 7, 8, 0x20, 9, 10])
    let obus = Array(AV1OBUs(unit))
    #expect(obus.map(\.type) == [.frame, .tileGroup])
    #expect(obus.map { Array($0.payload.readableBytesView) } == [[7, 8], [9, 10]])
    #expect(obus[0].temporalLayer == 1 && obus[0].spatialLayer == 2 && obus[0].hasExtension)
    #expect(!obus[1].hasExtension && obus[1].spatialLayer == 0)
    // Written, each has its size.
    #expect(AV1Streams.unit(obus) == ByteBuffer(bytes: [0x36, 0x30, 2, 7, 8, 0x22, 2, 9, 10]))
    #expect(obus.map(\.byteCount) == [5, 4])
  }

  @Test("what is no whole OBU ends the sequence")
  func broken() {
    let starts: [[UInt8]] = [[0xB2, 0], [0x32, 3, 1], [0x36], [0x32, 0x80], [0x36, 0]]
    for start in starts {
      var units = AV1OBUs(ByteBuffer(bytes: [0x32, 1, 9] + start)).makeIterator()
      #expect(units.next() != nil && units.next() == nil)
      #expect(units.rest.readableBytes == start.count, "\(start)")
    }
  }

  @Test("delimiters, tile lists and padding are no part of what is stored")
  func kept() {
    let kept = (0...15).map { AV1OBU.Kind(rawValue: $0) }.filter(\.isKept).map(\.rawValue)
    #expect(kept == [0, 1, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14])
  }
}
