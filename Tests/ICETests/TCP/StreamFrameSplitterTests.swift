import ICE
import NIOCore
import TestSupport
import Testing

@Suite("Datagrams on a connection")
struct StreamFrameSplitterTests {
  private static let datagrams = [1, 2, 3, 100, 1_500, 65_535].map { size in
    ByteBuffer(bytes: (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) })
  }

  private static func stream(_ datagrams: [ByteBuffer]) -> ByteBuffer {
    var bytes = ByteBuffer()
    for datagram in datagrams { StreamFraming.write(datagram, into: &bytes) }
    return bytes
  }

  @Test("datagrams come out as they went in, however the stream is cut", arguments: [1, 2, 3, 7, 1_000, 100_000])
  func pieces(size: Int) {
    var stream = Self.stream(Self.datagrams + [ByteBuffer()] + Self.datagrams)
    var splitter = StreamFrameSplitter()
    var found: [ByteBuffer] = []
    while var chunk = stream.readSlice(length: min(size, stream.readableBytes)), chunk.readableBytes > 0 {
      while let datagram = splitter.next(from: &chunk) { found.append(datagram) }
      #expect(chunk.readableBytes == 0)
    }
    #expect(found == Self.datagrams + [ByteBuffer()] + Self.datagrams)
    #expect(splitter.buffered == 0)
  }

  @Test("a datagram that is too long for its length is left out")
  func tooLong() {
    #expect(Self.stream([ByteBuffer(repeating: 1, count: 65_536)]).readableBytes == 0)
  }

  @Test("any bytes are datagrams, and never more than one incomplete one is kept")
  func noise() {
    var generator = SeededGenerator(seed: 4_571)
    var splitter = StreamFrameSplitter()
    for _ in 0..<20_000 {
      let count = Int.random(in: 0...300, using: &generator)
      var chunk = ByteBuffer(bytes: (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
      while splitter.next(from: &chunk) != nil {}
      #expect(chunk.readableBytes == 0)
      #expect(splitter.buffered < 65_537)
    }
  }
}
