import NIOCore

@testable import Recorder

/// How many packets lie in the whole pages of an Ogg file, the two headers not counted.
struct OggCount {
  private(set) var packets = -2

  init(_ bytes: [UInt8]) throws {
    var rest = ByteBuffer(bytes: bytes)
    while let page = OggPage(parsing: rest) {
      let segments = Int(page.bytes.getInteger(at: 26, as: UInt8.self) ?? 0)
      let lacing = page.bytes.getBytes(at: OggPage.headerLength, length: segments) ?? []
      packets += lacing.count { $0 < 255 }
      rest.moveReaderIndex(forwardBy: page.length)
    }
  }
}
