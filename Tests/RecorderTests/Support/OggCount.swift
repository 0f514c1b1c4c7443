import NIOCore
import Recorder

/// The number of packets in the complete pages of an Ogg file, without the two headers.
struct OggCount {
  private(set) var packets = -2
  /// The packets of one or two bytes among them, which fill gaps.
  private(set) var fillers = 0

  init(_ bytes: [UInt8]) throws {
    var rest = ByteBuffer(bytes: bytes)
    while let page = OggPage(parsing: rest) {
      let segments = Int(page.bytes.getInteger(at: 26, as: UInt8.self) ?? 0)
      let lacing = page.bytes.getBytes(at: OggPage.headerLength, length: segments) ?? []
      packets += lacing.count { $0 < 255 }
      // A packet continues after a value of 255.
      let isFresh = [true] + lacing.dropLast().map { $0 < 255 }
      fillers += zip(lacing, isFresh).count { (1...2).contains($0) && $1 }
      rest.moveReaderIndex(forwardBy: page.length)
    }
  }
}
