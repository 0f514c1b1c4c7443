import Bitstream
import NIOCore
import TestSupport
import Testing

@Suite("VP9 superframes")
struct VP9SuperframeTests {
  private func written(_ superframe: VP9Superframe) -> ByteBuffer {
    var buffer = ByteBuffer()
    superframe.write(into: &buffer)
    return buffer
  }

  @Test("a single frame has no index")
  func single() throws {
    let frame = bytes("8D 01 02")
    let superframe = try VP9Superframe(parsing: frame)
    #expect(superframe.frames == [frame])
    #expect(written(superframe) == frame)
    // The last byte is a marker, but there is no index.
    #expect(try VP9Superframe(parsing: bytes("01 02 03 C1")).frames.count == 1)
    #expect(try VP9Superframe(parsing: bytes("C7")).frames.count == 1)
  }

  @Test(
    "the sizes in the index have one to four bytes, little-endian", arguments: [1, 255, 256, 65_535, 65_536, 1 << 24])
  func sizes(largest: Int) throws {
    let frames = [ByteBuffer(repeating: 1, count: 2), ByteBuffer(repeating: 2, count: largest)]
    let superframe = try #require(VP9Superframe(frames: frames))
    let unit = written(superframe)
    let width = largest > 0xFF_FFFF ? 4 : largest > 0xFFFF ? 3 : largest > 0xFF ? 2 : 1
    #expect(unit.readableBytes == largest + 2 + 2 + 2 * width)
    #expect(superframe.maximumByteCount >= unit.readableBytes)
    #expect(try VP9Superframe(parsing: unit) == superframe)
  }

  @Test("the index is that of the specification")
  func index() throws {
    let superframe = try #require(VP9Superframe(frames: [bytes("A1A2A3"), bytes("B1"), bytes("D1D2")]))
    #expect(written(superframe) == bytes("A1A2A3 B1 D1D2 C2 030102 C2"))
  }

  @Test("an index that does not fit its frames is rejected, and one that leaves bytes over is not")
  func invalid() throws {
    #expect(throws: ParseError.self) { try VP9Superframe(parsing: ByteBuffer()) }
    // An empty frame, and a frame that is too long.
    #expect(throws: ParseError.self) { try VP9Superframe(parsing: bytes("A1 C1 0001 C1")) }
    #expect(throws: ParseError.self) { try VP9Superframe(parsing: bytes("A1A2 C1 0102 C1")) }
    #expect(throws: ParseError.self) { try VP9Superframe(parsing: bytes("A1A2 D1 0100FF FFFFFF D1")) }
    #expect(try VP9Superframe(parsing: bytes("A1A2A3 C1 0101 C1")).frames == [bytes("A1"), bytes("A2")])
  }

  @Test("only one to eight frames that are not empty form a superframe")
  func counts() {
    let frame = bytes("A1")
    #expect(VP9Superframe(frames: []) == nil)
    #expect(VP9Superframe(frames: [frame, ByteBuffer()]) == nil)
    #expect(VP9Superframe(frames: Array(repeating: frame, count: 8))?.frames.count == 8)
    #expect(VP9Superframe(frames: Array(repeating: frame, count: 9)) == nil)
  }

  @Test("superframes of libvpx are written as they were")
  func real() throws {
    let stream = try VP9Stream(VP9Stream.hidingFrames, size: "160x90", passes: 2)
    let superframes = try stream.units.map { try VP9Superframe(parsing: $0) }
    #expect(superframes.contains { $0.frames.count > 1 })
    #expect(superframes.map(written) == stream.units)
    // One frame of each unit is shown.
    var references = VP9ReferenceSizes()
    for var superframe in superframes {
      let before = superframe
      let output = superframe.hideLowerLayers(references: &references)
      #expect(output.isShown && output.hiddenFrames == 0 && output.size == .init(width: 160, height: 90))
      #expect(superframe == before)
    }
  }
}
