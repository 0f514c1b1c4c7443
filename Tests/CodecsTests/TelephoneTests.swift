import Codecs
import Foundation
import Media
import MediaWorker
import NIOCore
import TestSupport
import Testing

@Suite("G.711 and G.722")
struct TelephoneTests {
  /// What ffmpeg calls the codecs, and the rate at which it decodes them.
  private static let codecs: [(codec: Codec, name: String, format: String, rate: Int)] = [
    (.pcmu, "pcm_mulaw", "mulaw", 8_000), (.pcma, "pcm_alaw", "alaw", 8_000), (.g722, "g722", "g722", 16_000),
  ]

  /// Encodes a second of a tone by ffmpeg.
  private static func encode(_ name: String, _ format: String, rate: Int, frequency: Int = 440) throws -> [UInt8] {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let result = try ExternalTool.run(
      "ffmpeg",
      [
        "-v", "error", "-f", "lavfi", "-i", "sine=frequency=\(frequency):sample_rate=\(rate):duration=1", "-c:a", name,
        "-ac", "1", "-f", format, path,
      ])
    try #require(result.status == 0, "\(result.errors)")
    return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  @Test("a tone is decoded to 48 kHz without a gap between packets", arguments: codecs.indices)
  func tone(index: Int) throws {
    let (codec, name, format, rate) = Self.codecs[index]
    let bytes = try Self.encode(name, format, rate: rate)
    #expect((7_990...8_200).contains(bytes.count))
    let decoder = try AudioDecoder(codec, channels: 1, in: MediaWorker())
    var samples: [Float] = []
    for start in stride(from: 0, to: bytes.count - 159, by: 160) {
      let audio = try decoder.decode(ByteBuffer(bytes: bytes[start..<start + 160]))
      #expect(audio.count == 960 && audio.channels == 1)
      samples += audio.samples
    }
    // ffmpeg's sine has an amplitude of 1/8. What is not the tone is noise.
    let heard = samples[4_800..<43_200]
    var (cosine, sine, power) = (0.0, 0.0, 0.0)
    for (position, sample) in heard.enumerated() {
      let angle = 2 * Double.pi * 440 * Double(position) / 48_000
      cosine += Double(sample) * cos(angle)
      sine += Double(sample) * sin(angle)
      power += Double(sample) * Double(sample)
    }
    let tone = (cosine * cosine + sine * sine) * 2 / Double(heard.count)
    #expect(abs((2 * tone / Double(heard.count)).squareRoot() - 0.125) < 0.006)
    #expect(tone / power > 0.99)
  }

  @Test("the values of each octet of G.711 are those of ffmpeg", arguments: [Codec.pcmu, .pcma])
  func table(codec: Codec) throws {
    let (coded, decoded) = (UUID().uuidString, UUID().uuidString)
    let folder = FileManager.default.temporaryDirectory
    defer {
      for name in [coded, decoded] { try? FileManager.default.removeItem(at: folder.appendingPathComponent(name)) }
    }
    try Data(0...255).write(to: folder.appendingPathComponent(coded))
    let format = codec == .pcmu ? "mulaw" : "alaw"
    let result = try ExternalTool.run(
      "ffmpeg",
      [
        "-v", "error", "-f", format, "-ar", "8000", "-i", folder.appendingPathComponent(coded).path, "-f", "s16le",
        folder.appendingPathComponent(decoded).path,
      ])
    try #require(result.status == 0, "\(result.errors)")
    let expected = try Data(contentsOf: folder.appendingPathComponent(decoded))
    for octet in 0...255 {
      // A constant signal passes the filter unchanged.
      let decoder = try AudioDecoder(codec, channels: 1)
      let audio = try decoder.decode(ByteBuffer(repeating: UInt8(octet), count: 40))
      let value = Int16(
        littleEndian: expected.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 2 * octet, as: Int16.self) })
      #expect(abs((audio.samples.last ?? 2) * 32_768 - Float(value)) < 1, "\(octet)")
    }
  }

  @Test("a loss is filled by ever quieter audio, and both channels are the same", arguments: codecs.indices)
  func concealment(index: Int) throws {
    let (codec, name, format, rate) = Self.codecs[index]
    let bytes = try Self.encode(name, format, rate: rate)
    let decoder = try AudioDecoder(codec, in: MediaWorker())
    _ = try decoder.decode(ByteBuffer(bytes: bytes[0..<800]))
    let levels = try (0..<4).map { _ in
      let audio = try decoder.conceal(duration: 960)
      #expect(audio.count == 960 && audio.channels == 2)
      #expect(stride(from: 0, to: audio.samples.count, by: 2).allSatisfy { audio.samples[$0] == audio.samples[$0 + 1] })
      return audio.level
    }
    #expect(levels[0] > levels[1] && levels[1] > levels[2] && levels[2] > levels[3] && levels[3] == 0)
  }

  @Test("packets of an octet of G.722 are decoded only as often as packets of 2.5 ms, which all are")
  func shortPackets() throws {
    func decoded(_ octets: Int, of count: Int) throws -> Int {
      let decoder = try AudioDecoder(.g722, channels: 1, in: MediaWorker())
      return try (0..<count).count { _ in
        do throws(CodecError) {
          return try decoder.decode(ByteBuffer(repeating: 7, count: octets)).count == 6 * octets
        } catch {
          try #require(error.isUnavailable)
          return false
        }
      }
    }
    #expect(try decoded(20, of: 2_000) == 2_000)
    // 1 s in reserve, and then one of 20.
    #expect((400...610).contains(try decoded(1, of: 4_000)))
  }

  @Test("an empty packet and one above 120 ms are refused", arguments: codecs.indices)
  func lengths(index: Int) throws {
    let decoder = try AudioDecoder(Self.codecs[index].codec, in: MediaWorker())
    #expect(throws: CodecError.self) { try decoder.decode(ByteBuffer()) }
    #expect(throws: CodecError.self) { try decoder.decode(ByteBuffer(repeating: 1, count: 961)) }
    #expect(try decoder.decode(ByteBuffer(repeating: 1, count: 960)).count == 5_760)
    #expect(try decoder.decode(ByteBuffer(repeating: 1, count: 1)).count == 6)
  }
}
