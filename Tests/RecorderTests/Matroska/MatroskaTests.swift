import Media
import NIOCore
import Testing

@testable import Recorder

@Suite("Matroska encoding")
struct MatroskaTests {
  private func bytes(_ build: (inout EBMLBuilder) -> Void) -> [UInt8] {
    var builder = EBMLBuilder()
    build(&builder)
    return Array(builder.bytes.readableBytesView)
  }

  private func block(_ kind: MediaKind, _ milliseconds: Int64, keyframe: Bool = false, shown: Bool = true)
    -> MatroskaBlock
  {
    MatroskaBlock(
      kind: kind, time: .milliseconds(milliseconds), duration: kind == .audio ? .milliseconds(20) : nil,
      isKeyframe: keyframe, isShown: shown, payload: ByteBuffer(bytes: [1, 2, 3]))
  }

  @Test("elements are written as specified in RFC 8794")
  func elements() {
    #expect(bytes { $0.unsigned(.trackNumber, 0) } == [0xD7, 0x81, 0])
    #expect(bytes { $0.unsigned(.timestampScale, 1_000_000) } == [0x2A, 0xD7, 0xB1, 0x83, 0x0F, 0x42, 0x40])
    #expect(bytes { $0.unsigned(.trackUID, .max) } == [0x73, 0xC5, 0x88] + [UInt8](repeating: 0xFF, count: 8))
    #expect(bytes { $0.float(.samplingFrequency, 48_000) } == [0xB5, 0x88, 0x40, 0xE7, 0x70, 0, 0, 0, 0, 0])
    #expect(bytes { $0.text(.docType, "webm") } == [0x42, 0x82, 0x84, 0x77, 0x65, 0x62, 0x6D])
    #expect(
      bytes { $0.master(.seekHead) { $0.unsigned(.cueTime, 5) } } == [0x11, 0x4D, 0x9B, 0x74, 0x83, 0xB3, 0x81, 5])
    #expect(
      bytes { $0.open(.segment, wideSize: nil) } == [0x18, 0x53, 0x80, 0x67, 1] + [UInt8](repeating: 0xFF, count: 7))
  }

  @Test("a size that would mean “unknown” uses a longer field", arguments: [126, 127, 16_382, 16_383])
  func sizes(count: Int) {
    let head = bytes { $0.binary(.codecPrivate, ByteBuffer(repeating: 7, count: count)) }.dropLast(count)
    let expected: [UInt8]
    switch count {
    case 126: expected = [0xFE]
    case 127: expected = [0x40, 0x7F]
    case 16_382: expected = [0x7F, 0xFE]
    default: expected = [0x20, 0x3F, 0xFF]
    }
    #expect(Array(head) == [0x63, 0xA2] + expected)
  }

  @Test("a void element fills exactly the remaining bytes", arguments: [2, 3, 128, 129, 130, 500])
  func filling(room: Int) {
    #expect(bytes { $0.fill(to: room) }.count == room)
  }

  @Test("the header always has the same length")
  func headerLength() {
    var header = MatroskaHeader(video: nil, audio: nil, date: 0)
    #expect(header.bytes.readableBytes == Int(MatroskaHeader.length))
    header.video = MatroskaHeader.Video(codec: .vp8, size: VideoSize(width: 16_383, height: 16_383))
    header.audio = MatroskaHeader.Audio(codec: .opus, channels: 2)
    header.duration = 1e9
    header.cues = 1 << 40
    header.fileSize = 1 << 41
    #expect(header.bytes.readableBytes == Int(MatroskaHeader.length))
  }

  @Test("a cluster ends before a keyframe or after a second, and not earlier by itself")
  func clusters() {
    var writer = MatroskaWriter(
      video: MatroskaHeader.Video(codec: .vp8, size: VideoSize(width: 2, height: 2)), audio: nil, date: 0)
    #expect(writer.add(block(.video, 0, keyframe: true)).isEmpty)
    #expect(writer.add(block(.video, 999)).isEmpty)
    #expect(writer.add(block(.video, 1_000)).map(\.offset) == [MatroskaHeader.length])
    #expect(writer.add(block(.audio, 1_010)).isEmpty)
    #expect(writer.add(block(.video, 1_033, keyframe: true)).count == 1)
    #expect(writer.endCluster().count == 1)
    #expect(writer.endCluster().isEmpty)
  }

  @Test("a cluster is written as specified in RFC 9559")
  func clusterBytes() {
    var writer = MatroskaWriter(
      video: MatroskaHeader.Video(codec: .vp8, size: VideoSize(width: 2, height: 2)), audio: nil, date: 0)
    _ = writer.add(block(.video, 258, keyframe: true))
    _ = writer.add(block(.audio, 250))
    _ = writer.add(block(.video, 291, shown: false))
    let cluster = writer.endCluster()[0].bytes
    #expect(
      Array(cluster.readableBytesView)
        == [0x1F, 0x43, 0xB6, 0x75, 0x01, 0, 0, 0, 0, 0, 0, 0x1F, 0xE7, 0x82, 0x01, 0x02]
        + [0xA3, 0x87, 0x81, 0, 0, 0x80, 1, 2, 3]
        + [0xA3, 0x87, 0x82, 0xFF, 0xF8, 0, 1, 2, 3]
        + [0xA3, 0x87, 0x81, 0, 33, 0x08, 1, 2, 3])
  }

  @Test("times of a track increase by at least a millisecond")
  func increasing() {
    var writer = MatroskaWriter(
      video: MatroskaHeader.Video(codec: .vp8, size: VideoSize(width: 2, height: 2)), audio: nil, date: 0)
    for time: Int64 in [0, 0, 0, 5, 3] { _ = writer.add(block(.video, time)) }
    let bytes = Array(writer.endCluster()[0].bytes.readableBytesView)
    let times = stride(from: 15, to: bytes.count, by: 9).map { bytes[$0 + 4] }
    #expect(times == [0, 1, 2, 5, 6])
  }

  @Test("finishing writes the cues and then the header, and all sizes match")
  func finish() throws {
    var writer = MatroskaWriter(
      video: MatroskaHeader.Video(codec: .vp8, size: VideoSize(width: 2, height: 2)), audio: nil, date: 0)
    var file: [FileWrite] = writer.start()
    for index in 0..<100 { file += writer.add(block(.video, Int64(index) * 40, keyframe: index % 25 == 0)) }
    file += writer.finish()
    let header = try #require(file.last)
    #expect(header.offset == 0)
    let cues = file[file.count - 2]
    let end = cues.offset + Int64(cues.bytes.readableBytes)
    let size = try #require(header.bytes.getInteger(at: Int(MatroskaHeader.segmentStart) - 8, as: UInt64.self))
    #expect(Int64(size & 0x00FF_FFFF_FFFF_FFFF) == end - MatroskaHeader.segmentStart)
    #expect(Array(cues.bytes.readableBytesView.prefix(4)) == [0x1C, 0x53, 0xBB, 0x6B])
    #expect(writer.duration == 4_000)
    // Only writes of the header overwrite others.
    let appended = file.filter { $0.offset > 0 }
    #expect(zip(appended, appended.dropFirst()).allSatisfy { $0.offset + Int64($0.bytes.readableBytes) == $1.offset })
  }
}
