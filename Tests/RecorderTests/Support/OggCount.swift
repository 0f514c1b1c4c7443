import NIOCore

@testable import Recorder

/// How many packets lie in the whole pages of an Ogg file, the two headers not counted.
struct OggCount {
  private(set) var packets = -2
  /// Those among them of one or two bytes, as stand for a gap.
  private(set) var fillers = 0

  init(_ bytes: [UInt8]) throws {
    var rest = ByteBuffer(bytes: bytes)
    while let page = OggPage(parsing: rest) {
      let segments = Int(page.bytes.getInteger(at: 26, as: UInt8.self) ?? 0)
      let lacing = page.bytes.getBytes(at: OggPage.headerLength, length: segments) ?? []
      packets += lacing.count { $0 < 255 }
      // After a value of 255 a packet continues.
      let isFresh = [true] + lacing.dropLast().map { $0 < 255 }
      fillers += zip(lacing, isFresh).count { (1...2).contains($0) && $1 }
      rest.moveReaderIndex(forwardBy: page.length)
    }
  }
}
