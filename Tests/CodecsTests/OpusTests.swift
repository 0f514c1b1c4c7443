import Bitstream
import Codecs
import Foundation
import NIOCore
import Testing

@Suite("Opus")
struct OpusTests {
  private func tone(_ count: Int, from start: Int = 0, channels: Int = 2) -> AudioSamples {
    let samples = (start..<start + count).flatMap { index in
      [Float](repeating: Float(0.5 * sin(2 * Double.pi * 440 * Double(index) / 48_000)), count: channels)
    }
    return AudioSamples(samples: samples, channels: channels)
  }

  @Test("a tone keeps its level when encoded and decoded")
  func toneSurvives() throws {
    let encoder = try OpusEncoder()
    let decoder = try OpusDecoder()
    var last = AudioSamples(samples: [], channels: 2)
    for index in 0..<25 { last = try decoder.decode(encoder.encode(tone(960, from: index * 960))) }
    #expect(last.count == 960)
    #expect(abs(last.level - 0.3535) < 0.02)
  }

  @Test("the default encoder's lookahead is 312 ticks")
  func lookahead() throws {
    #expect(try OpusEncoder().lookahead == 312)
  }

  @Test("a packet states its length and channels", arguments: [(1, 120), (1, 480), (2, 960), (2, 2_880)])
  func shape(channels: Int, ticks: Int) throws {
    var settings = OpusEncoder.Settings()
    settings.channels = channels
    let packet = try OpusEncoder(settings).encode(tone(ticks, channels: channels))
    let shape = try OpusPacket(parsing: packet)
    #expect(shape.duration == ticks)
    #expect(shape.channels == channels)
    #expect(!shape.isEmpty)
  }

  @Test("a packet of six empty frames lasts 120 ms and is silent")
  func emptyFrames() throws {
    let shape = try OpusPacket(parsing: ByteBuffer(bytes: [31 << 3 | 3, 6]))
    #expect(shape.duration == 5_760)
    #expect(shape.frames == 6)
    #expect(shape.isEmpty)
  }

  @Test("malformed packets are refused with a sentence", arguments: [[], [0x03], [0x03, 0x00], [0x01, 1]])
  func malformed(bytes: [UInt8]) {
    #expect(throws: ParseError.self) { try OpusPacket(parsing: ByteBuffer(bytes: bytes)) }
    #expect(throws: CodecError.self) { try OpusDecoder().decode(ByteBuffer(bytes: bytes)) }
  }

  @Test("a lost packet is recovered from the copy in the next one")
  func forwardErrorCorrection() throws {
    var settings = OpusEncoder.Settings()
    settings.channels = 1
    settings.bitrate = 32_000
    settings.correctsErrors = true
    settings.expectedLoss = 30
    settings.isForSpeech = true
    let encoder = try OpusEncoder(settings)
    let decoder = try OpusDecoder(channels: 1)
    let packets = try (0..<20).map { try encoder.encode(tone(960, from: $0 * 960, channels: 1)) }
    for packet in packets.prefix(18) { _ = try decoder.decode(packet) }
    let rebuilt = try decoder.recover(duration: 960, before: packets[19])
    #expect(rebuilt.count == 960)
    #expect(rebuilt.level > 0.1)
  }

  @Test(
    "a packet states whether it carries a copy of the previous one", arguments: [480, 960, 1_920, 2_880], [1, 2])
  func copies(ticks: Int, channels: Int) throws {
    func packets(_ change: (inout OpusEncoder.Settings) -> Void) throws -> [OpusPacket] {
      var settings = OpusEncoder.Settings()
      settings.channels = channels
      settings.bitrate = 24_000 * channels
      settings.isForSpeech = true
      change(&settings)
      let encoder = try OpusEncoder(settings)
      return try (0..<20).map { index in
        try OpusPacket(parsing: encoder.encode(tone(ticks, from: index * ticks, channels: channels)))
      }
    }
    let with = try packets {
      $0.correctsErrors = true
      $0.expectedLoss = 30
    }
    #expect(with.dropFirst(2).filter(\.carriesCopy).count >= 15)
    #expect(!with[0].carriesCopy)
    #expect(try packets { $0.correctsErrors = false }.allSatisfy { !$0.carriesCopy })
    // Music at a high bitrate has no SILK layer, which would hold a copy.
    let music = try packets {
      $0.correctsErrors = true
      $0.bitrate = 256_000
      $0.isForSpeech = false
    }
    #expect(music.allSatisfy { !$0.carriesCopy })
  }

  @Test("packets without prediction can be decoded from any of them on")
  func withoutPrediction() throws {
    var settings = OpusEncoder.Settings()
    settings.predicts = false
    let encoder = try OpusEncoder(settings)
    let packets = try (0..<10).map { try encoder.encode(tone(960, from: $0 * 960)) }
    let decoder = try OpusDecoder()
    _ = try decoder.decode(packets[8])
    #expect(abs(try decoder.decode(packets[9]).level - 0.3535) < 0.04)
  }

  @Test("packets are encoded in all lengths", arguments: OpusEncoder.packetLengths)
  func lengths(ticks: Int) throws {
    let packet = try OpusEncoder().encode(tone(ticks))
    #expect(try OpusPacket(parsing: packet).duration == ticks)
  }

  @Test("concealed audio fades")
  func concealment() throws {
    let encoder = try OpusEncoder()
    let decoder = try OpusDecoder()
    for index in 0..<10 { _ = try decoder.decode(encoder.encode(tone(960, from: index * 960))) }
    let first = try decoder.conceal(duration: 960).level
    var last = first
    for _ in 0..<50 { last = try decoder.conceal(duration: 960).level }
    #expect(first > 0.1)
    #expect(last < first / 10)
    #expect(throws: CodecError.self) { try decoder.conceal(duration: 48_000) }
  }

  @Test("audio with another number of channels than the encoder's is refused")
  func wrongChannels() throws {
    let encoder = try OpusEncoder()
    #expect(throws: CodecError.self) { try encoder.encode(tone(960, channels: 1)) }
    #expect(throws: CodecError.self) { try encoder.encode(tone(961)) }
  }

  @Test("a lower bitrate produces smaller packets")
  func bitrate() throws {
    let encoder = try OpusEncoder()
    let large = try (0..<20).map { try encoder.encode(tone(960, from: $0 * 960)).readableBytes }.reduce(0, +)
    try encoder.setBitrate(8_000)
    try encoder.setExpectedLoss(5)
    let small = try (20..<40).map { try encoder.encode(tone(960, from: $0 * 960)).readableBytes }.reduce(0, +)
    #expect(small * 2 < large)
  }

  @Test("copies can be switched on and off during encoding")
  func switchedCopies() throws {
    var settings = OpusEncoder.Settings()
    settings.channels = 1
    settings.bitrate = 24_000
    settings.isForSpeech = true
    let encoder = try OpusEncoder(settings)
    func copies(_ range: Range<Int>) throws -> Int {
      try range.filter { index in
        let packet = try encoder.encode(tone(960, from: index * 960, channels: 1))
        return try OpusPacket(parsing: packet).carriesCopy
      }.count
    }
    #expect(try copies(0..<20) == 0)
    try encoder.setCorrectsErrors(true)
    try encoder.setExpectedLoss(20)
    #expect(try copies(20..<40) >= 15)
    try encoder.setCorrectsErrors(false)
    #expect(try copies(40..<60) <= 1)
  }
}
