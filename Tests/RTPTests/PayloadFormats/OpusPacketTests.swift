import NIOCore
import TestSupport
import Testing

@testable import RTP

@Suite("Opus packets")
struct OpusPacketTests {
  /// A packet of one frame with a configuration.
  private func single(_ configuration: UInt8) throws -> OpusPacket {
    try OpusPacket(parsing: ByteBuffer(bytes: [configuration << 3, 1, 2, 3]))
  }

  @Test("the 32 configurations are those of RFC 6716, table 2")
  func configurations() throws {
    let silk = [480, 960, 1_920, 2_880]
    let celt = [120, 240, 480, 960]
    let durations = silk + silk + silk + [480, 960, 480, 960] + celt + celt + celt + celt
    let bandwidths: [OpusPacket.Bandwidth] =
      Array(repeating: .narrow, count: 4) + Array(repeating: .medium, count: 4) + Array(repeating: .wide, count: 4)
      + [.superWide, .superWide, .full, .full] + Array(repeating: .narrow, count: 4)
      + Array(repeating: .wide, count: 4) + Array(repeating: .superWide, count: 4) + Array(repeating: .full, count: 4)
    for configuration in 0..<32 {
      let packet = try single(UInt8(configuration))
      #expect(packet.configuration == configuration)
      #expect(packet.frameDuration == durations[configuration])
      #expect(packet.duration == durations[configuration])
      #expect(packet.bandwidth == bandwidths[configuration])
      #expect(packet.mode == (configuration < 12 ? .silk : configuration < 16 ? .hybrid : .celt))
    }
  }

  @Test("codes 0 to 2 hold one or two frames", arguments: [(0, 1), (1, 2), (2, 2)])
  func frameCounts(code: UInt8, count: Int) throws {
    let packet = try OpusPacket(parsing: ByteBuffer(bytes: [0x78 | code, 1, 2]))
    #expect(packet.frameCount == count)
    #expect(packet.duration == 960 * count)
  }

  @Test("code 3 names its frame count, and padding and rate bits do not count")
  func code3() throws {
    // 48 frames of 2.5 ms; 2 of 60 ms; 1 of 2.5 ms.
    #expect(try OpusPacket(parsing: bytes("83 30 00")).duration == 5_760)
    #expect(try OpusPacket(parsing: bytes("1B 02 00")).duration == 5_760)
    #expect(try OpusPacket(parsing: bytes("83 C1 00")).frameCount == 1)
  }

  @Test("stereo is the third bit")
  func stereo() throws {
    #expect(try OpusPacket(parsing: bytes("7C 00 00")).isStereo)
    #expect(try !OpusPacket(parsing: bytes("78 00 00")).isStereo)
  }

  @Test("a packet of at most two bytes is silence")
  func silence() throws {
    #expect(try OpusPacket(parsing: bytes("78")).isDTX)
    #expect(try OpusPacket(parsing: bytes("78 00")).isDTX)
    #expect(try !OpusPacket(parsing: bytes("78 FFFE")).isDTX)
  }

  @Test("Chromium sends 20 ms of mono at full band")
  func chromium() throws {
    let packet = try OpusPacket(parsing: RTPPacket(parsing: Fixture.bytes("rtp/opus.bin", in: .module)).payload)
    #expect(packet.duration == 960)
    #expect(packet.bandwidth == .full)
    #expect(packet.mode == .hybrid)
    #expect(!packet.isStereo)
  }

  @Test("an empty packet, no frames, and more than 120 ms are refused")
  func errors() {
    func failure(_ hex: String) -> String {
      sentence { () throws(ParseError) in _ = try OpusPacket(parsing: bytes(hex)) }
    }
    #expect(failure("") == "An Opus packet needs 1 byte, but none arrived.")
    #expect(failure("83") == "An Opus packet of code 3 needs 2 bytes, but only 1 arrived.")
    #expect(failure("83 00") == "An Opus packet's frame count must be 1 to 48, but it is 0.")
    #expect(
      failure("83 31") == "An Opus packet's duration in 48 kHz ticks must be at most 5760, but it is 5880.")
    #expect(
      failure("1B 03") == "An Opus packet's duration in 48 kHz ticks must be at most 5760, but it is 8640.")
  }
}
