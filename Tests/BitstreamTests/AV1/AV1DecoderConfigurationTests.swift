import Bitstream
import NIOCore
import TestSupport
import Testing

@Suite("av1C records")
struct AV1DecoderConfigurationTests {
  private static let encoders: [(arguments: [String], name: String)] = [
    (["-c:v", "libaom-av1", "-cpu-used", "8", "-usage", "realtime"], "av01.0.00M.08"),
    (["-c:v", "libaom-av1", "-cpu-used", "8", "-pix_fmt", "yuv420p10le"], "av01.0.00M.10"),
    (["-c:v", "libaom-av1", "-cpu-used", "8", "-pix_fmt", "yuv444p"], "av01.1.00M.08"),
    (["-c:v", "libaom-av1", "-cpu-used", "8", "-pix_fmt", "yuv422p12le"], "av01.2.00M.12"),
    (["-c:v", "libaom-av1", "-cpu-used", "8", "-pix_fmt", "gray"], "av01.0.00M.08"),
    (["-c:v", "libsvtav1", "-preset", "12"], "av01.0.00M.08"),
  ]

  @Test("the record of a keyframe is that which ffmpeg writes into an MP4 file", arguments: 0..<6)
  func beside(index: Int) throws {
    let (arguments, name) = Self.encoders[index]
    let (units, mp4) = try AV1Streams.encode(arguments, frames: 2)
    let configuration = try #require(AV1DecoderConfiguration(keyframe: units[0]))
    let record = [UInt8](configuration.encoded.readableBytesView)
    let start = try #require(mp4.indices.first { mp4[$0...].starts(with: Array("av1C".utf8)) })
    let length = mp4[start - 4..<start].reduce(0) { $0 << 8 | Int($1) }
    #expect(record == Array(mp4[start + 4..<start - 4 + length]))
    let parsed = try AV1DecoderConfiguration(parsing: ByteBuffer(bytes: record))
    #expect(parsed == configuration)
    #expect(configuration.sequence.maximumSize == .init(width: 128, height: 96))
    #expect(configuration.sequence.codecString.hasPrefix(name.prefix(7)))
    #expect(configuration.sequence.codecString.hasSuffix(name.suffix(3)))
  }

  @Test("a record must be of version 1 and have a sequence header; other OBUs are kept")
  func records() throws {
    let sequence = AV1OBU(.sequenceHeader, payload: AV1Streams.sequenceHeader)
    let metadata = AV1OBU(.metadata, payload: ByteBuffer(bytes: [1, 2]))
    func record(_ start: [UInt8], _ obus: [AV1OBU]) -> ByteBuffer {
      var record = ByteBuffer(bytes: start)
      record.writeImmutableBuffer(AV1Streams.unit(obus))
      return record
    }
    let whole = record([0x81, 0, 0x0C, 0], [sequence, metadata])
    #expect(try AV1DecoderConfiguration(parsing: whole).units == AV1Streams.unit([sequence, metadata]))
    #expect(try AV1DecoderConfiguration(parsing: whole).encoded == whole)
    for broken in [
      record([0x82, 0, 0x0C, 0], [sequence]), record([0x81, 0, 0x0C, 0], []), record([0x81, 0, 0x0C, 0], [metadata]),
      record([0x81, 0, 0x0C], []), ByteBuffer(),
      record([0x81, 0, 0x0C, 0], [sequence, AV1OBU(.metadata, payload: ByteBuffer(repeating: 0, count: 3_000))]),
    ] {
      #expect(throws: ParseError.self) { try AV1DecoderConfiguration(parsing: broken) }
    }
    #expect(AV1DecoderConfiguration(keyframe: AV1Streams.unit([metadata])) == nil)
  }
}
