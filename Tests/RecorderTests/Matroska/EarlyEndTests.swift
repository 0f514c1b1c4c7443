import Media
import NIOCore
import Recorder
import Testing

@Suite("A WebM that ends because the disk is full")
struct EarlyEndTests {
  /// Keyframes a second apart, each with its own size.
  private func file(_ sizes: [VideoSize]) -> (writer: MatroskaWriter, ends: [Int64]) {
    var writer = MatroskaWriter(video: nil, audio: nil, date: 0)
    _ = writer.start()
    var ends: [Int64] = []
    for (second, size) in sizes.enumerated() {
      _ = writer.declare(video: MatroskaHeader.Video(codec: .vp8, size: size))
      let block = MatroskaBlock(
        kind: .video, time: .seconds(second), isKeyframe: true, isShown: true,
        payload: ByteBuffer(repeating: 1, count: 100))
      ends += writer.add(block).map { $0.offset + Int64($0.bytes.readableBytes) }
    }
    ends += writer.endCluster().map { $0.offset + Int64($0.bytes.readableBytes) }
    return (writer, ends)
  }

  private static let small = VideoSize(width: 640, height: 480)
  private static let large = VideoSize(width: 1_280, height: 720)

  @Test(
    "its header describes what is on the disk, regardless of later frames",
    arguments: [(1, small), (2, small), (3, large)])
  func header(clusters: Int, size: VideoSize) throws {
    var (writer, ends) = file([Self.small, Self.small, Self.large])
    #expect(ends.count == 3)
    let writes = writer.finish(at: ends[clusters - 1], duration: Int64(clusters) * 1_000, withCues: true)
    let last = try #require(writes.last)
    let found = try #require(MatroskaHeader.find(in: last.bytes))
    #expect(
      found.header.video == MatroskaHeader.Video(codec: .vp8, size: size)
        && found.header.duration == Double(clusters) * 1_000)
    let cues = try #require(writes.first { $0.offset == ends[clusters - 1] })
    #expect(Int64(cues.bytes.readableBytes) <= writer.closingSize)
    #expect(found.segmentSize == cues.offset + Int64(cues.bytes.readableBytes) - MatroskaHeader.segmentStart)
  }

  @Test("without space for cues it has none, and is as long as what is on the disk")
  func short() throws {
    var (writer, ends) = file([Self.small, Self.large])
    _ = writer.finish()
    let writes = writer.finish(at: ends[0], duration: 1_000, withCues: false)
    #expect(writes.allSatisfy { $0.offset == 0 })
    let last = try #require(writes.last)
    let found = try #require(MatroskaHeader.find(in: last.bytes))
    #expect(found.segmentSize == ends[0] - MatroskaHeader.segmentStart)
    #expect(found.header.cues == nil && found.header.video == MatroskaHeader.Video(codec: .vp8, size: Self.small))
  }
}
