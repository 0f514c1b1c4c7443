import Bitstream
import COpus
import NIOCore
import TestSupport
import Testing

@Suite("Opus packets")
struct OpusPacketTests {
  @Test(
    "lengths that do not fit are rejected with one sentence",
    arguments: ["79 00 00 00 00", "7A 05 00", "7B 82", "7B 41 FF"])
  func errors(hex: String) throws {
    let packet = bytes(hex)
    let isWhole = packet.readableBytes == 5
    let text = sentence { () throws(ParseError) in _ = try OpusPacket(parsing: packet) }
    #expect((text == "no error") == isWhole)
    #expect(
      isWhole || text == "An Opus packet's size must be that of the frames in it, but it is \(packet.readableBytes).")
  }

  @Test("a packet of at most two bytes, or of empty frames with padding, is silence")
  func silence() throws {
    #expect(try OpusPacket(parsing: bytes("78")).isSilence)
    #expect(try OpusPacket(parsing: bytes("78 00")).isSilence)
    #expect(try !OpusPacket(parsing: bytes("78 FFFE")).isSilence)
    let padded = try OpusPacket(parsing: bytes("7B 42 03 000000"))
    #expect(padded.isEmpty && padded.isSilence && padded.duration == 1_920)
  }

  @Test("libopus agrees on the properties of arbitrary bytes")
  func libopus() {
    var generator = SeededGenerator(seed: 6_716)
    var accepted = 0
    for _ in 0..<200_000 {
      var data = (0..<Int.random(in: 0...24, using: &generator)).map { _ in
        // Small lengths are valid more often.
        Bool.random(using: &generator)
          ? UInt8.random(in: 0...255, using: &generator) : UInt8.random(in: 0...6, using: &generator)
      }
      if Int.random(in: 0..<50, using: &generator) == 0 { data += [UInt8](repeating: 1, count: 1_300) }
      let ours = try? OpusPacket(parsing: ByteBuffer(bytes: data))
      let theirs = Self.libopus(data)
      if ours != nil { accepted += 1 }
      guard ours?.frames != theirs?.frames || ours?.duration != theirs?.ticks || ours?.isEmpty != theirs?.isEmpty else {
        continue
      }
      Issue.record("\(data): \(String(describing: ours)), libopus \(String(describing: theirs))")
      return
    }
    #expect(accepted > 50_000)
  }

  /// Returns what libopus reads, or nil if it rejects the packet.
  private static func libopus(_ data: [UInt8]) -> (frames: Int, ticks: Int, isEmpty: Bool)? {
    guard !data.isEmpty else { return nil }
    var sizes = [Int16](repeating: 0, count: 48)
    let frames = opus_packet_parse(data, opus_int32(data.count), nil, nil, &sizes, nil)
    let ticks = opus_packet_get_nb_samples(data, opus_int32(data.count), 48_000)
    guard frames > 0, ticks > 0 else { return nil }
    return (Int(frames), Int(ticks), sizes.prefix(Int(frames)).allSatisfy { $0 == 0 })
  }
}
