import Bitstream
import Codecs
import NIOCore
import Testing

@testable import Recorder

@Suite("Ogg Opus")
struct OggTests {
  @Test("filler packets are valid, silent and as long as the gap", arguments: 0..<32)
  func filling(configuration: Int) throws {
    for ticks: Int64 in [120, 240, 360, 480, 960, 1_080, 5_760, 6_000, 144_120] {
      let packets = OpusGap.packets(filling: ticks, after: UInt8(configuration) << 3 | 0b100)
      #expect(packets.reduce(0) { $0 + $1.duration } == ticks)
      for packet in packets {
        let shape = try OpusPacket(parsing: packet.payload)
        #expect(Int64(shape.duration) == packet.duration)
        #expect(shape.isEmpty && shape.channels == 2)
      }
    }
  }

  @Test("a gap of 3 s costs less than 100 bytes")
  func cheap() {
    let packets = OpusGap.packets(filling: 144_000, after: 0x78)
    #expect(packets.reduce(0) { $0 + $1.payload.readableBytes } < 100)
  }

  @Test(
    "no page contains much more than a second of a long gap, within a call or at its end", arguments: [false, true])
  func pagesOfAGap(isAtEnd: Bool) throws {
    var writer = try OggOpusWriter(serial: 1, channels: 1)
    var writes = writer.start()
    let packet = ByteBuffer(bytes: [0x78, 1, 2, 3])
    writes += writer.add(packet, duration: 960, position: 0)
    let length: Int64 = 20 * 48_000
    writes += isAtEnd ? writer.fill(to: length) : writer.add(packet, duration: 960, position: length - 960)
    writes += writer.finish()
    var bytes = ByteBuffer()
    for write in writes { bytes.writeImmutableBuffer(write.bytes) }
    var granules: [Int64] = []
    while let page = OggPage(parsing: bytes) {
      granules.append(page.granule)
      bytes.moveReaderIndex(forwardBy: page.length)
    }
    #expect(granules.last == length)
    let longest = zip(granules, granules.dropFirst()).map { $1 - $0 }.max() ?? 0
    #expect(longest <= 48_000 + 6 * 960)
  }

  @Test("a packet whose position is before the end of the last packet follows it without a gap")
  func overlap() throws {
    var writer = try OggOpusWriter(serial: 1, channels: 1)
    _ = writer.start()
    let packet = ByteBuffer(bytes: [0x78, 1, 2, 3])
    for position: Int64 in [0, 960, 1_000, 2_880] { _ = writer.add(packet, duration: 960, position: position) }
    #expect(writer.duration == Duration(opusTicks: 3_840 - 312))
    _ = writer.add(packet, duration: 960, position: 3_840 + 119)
    #expect(writer.duration == Duration(opusTicks: 4_800 - 312))
  }

  @Test("the last page is marked as the end of the stream")
  func endOfStream() throws {
    var writer = try OggOpusWriter(serial: 7, channels: 1)
    let heads = writer.start()
    #expect(heads[0].bytes.getString(at: 0, length: 4) == "OggS")
    #expect(heads[0].bytes.getInteger(at: 5, as: UInt8.self) == 0x02)
    _ = writer.add(ByteBuffer(bytes: [0x78, 1]), duration: 960, position: 0)
    #expect(writer.flush().isEmpty)
    let last = try #require(writer.finish().first)
    #expect(last.offset == Int64(heads[0].bytes.readableBytes))
    #expect(last.bytes.getInteger(at: 5, as: UInt8.self) == 0x04)
    #expect(last.bytes.getInteger(at: 6, endianness: .little, as: Int64.self) == 960)
  }

  @Test("a second channel that appears later changes only the first page")
  func channels() throws {
    var writer = try OggOpusWriter(serial: 7, channels: 1)
    let before = writer.start()[0].bytes
    let again = try #require(try writer.declare(channels: 2).first)
    #expect(again.offset == 0)
    let page = Array(again.bytes.readableBytesView)
    let old = Array(before.readableBytesView.prefix(page.count))
    let changed = page.indices.filter { page[$0] != old[$0] }
    // The channel count, and the checksum at 22 to 25.
    #expect(changed.contains(37) && changed.allSatisfy { $0 == 37 || (22...25).contains($0) })
    #expect(try writer.declare(channels: 1).isEmpty)
  }

  @Test("if the last packet is already written, an empty page ends the stream, and nothing is written twice")
  func emptyEnd() throws {
    var writer = try OggOpusWriter(serial: 7, channels: 1)
    var writes = writer.start()
    writes += writer.add(ByteBuffer(bytes: [0x78, 1]), duration: 960, position: 0)
    writes += writer.flush(everything: true)
    let last = try #require(writes.last.flatMap { OggPage(parsing: $0.bytes) })
    let ending = writer.finish()
    let end = try #require(ending.first.flatMap { OggPage(parsing: $0.bytes) })
    #expect(
      ending.count == 1 && ending[0].offset == writes.reduce(0) { max($0, $1.offset + Int64($1.bytes.readableBytes)) })
    #expect(end.isLast && !end.isFirst && end.length == OggPage.headerLength && end.granule == -1)
    #expect(end.sequence == last.sequence + 1 && end.serial == 7)
  }
}
