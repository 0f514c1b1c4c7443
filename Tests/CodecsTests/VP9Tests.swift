import Bitstream
import Codecs
import Foundation
import Media
import NIOCore
import TestSupport
import Testing

@Suite("VP9")
struct VP9Tests {
  /// Encodes frames with ffmpeg and reads them from an IVF file.
  private func frames(_ arguments: [String]) throws -> [ByteBuffer] {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).ivf")
    defer { try? FileManager.default.removeItem(at: file) }
    let result = try ExternalTool.run(
      "ffmpeg",
      ["-v", "error", "-f", "lavfi", "-i", "testsrc=size=162x90:rate=10", "-t", "1", "-c:v", "libvpx-vp9"]
        + ["-deadline", "realtime", "-cpu-used", "8"] + arguments + [file.path])
    try #require(result.status == 0, "\(result.errors)")
    var bytes = ByteBuffer(bytes: try Data(contentsOf: file))
    bytes.moveReaderIndex(forwardBy: 32)
    var frames: [ByteBuffer] = []
    while let length = bytes.readInteger(endianness: .little, as: UInt32.self) {
      bytes.moveReaderIndex(forwardBy: 8)
      let frame = bytes.readSlice(length: Int(length))
      frames.append(try #require(frame))
    }
    return frames
  }

  @Test("a stream of profile 0 is decoded")
  func decoding() throws {
    let decoder = try VP9Decoder()
    let videoFrames = try frames(["-pix_fmt", "yuv420p"]).compactMap { try decoder.decode($0, \.copy) }
    #expect(videoFrames.count == 10)
    #expect(videoFrames.allSatisfy { $0.size == VideoSize(width: 162, height: 90) && $0.isWhole })
    #expect(Set(videoFrames.map(\.luma)).count > 1)
  }

  @Test(
    "of a stream of profile 2 the upper 8 bits of each sample are decoded",
    arguments: [("yuv420p10le", 10), ("yuv420p12le", 12)] as [(String, UInt8)])
  func deepSamples(format: String, bitDepth: UInt8) throws {
    let decoder = try VP9Decoder()
    let frames = try frames(["-pix_fmt", format, "-b:v", "2M"])
    let configuration = VP9CodecConfiguration(keyframe: frames[0], size: .init(width: 162, height: 90))
    #expect(configuration?.codecString == "vp09.02.10.\(bitDepth)")
    #expect(configuration?.features == ByteBuffer(bytes: [1, 1, 2, 2, 1, 10, 3, 1, bitDepth, 4, 1, 0]))
    let deep = try frames.compactMap { try decoder.decode($0, \.copy) }
    #expect(deep.count == 10)
    let flat = try VP9Decoder()
    let plain = try self.frames(["-pix_fmt", "yuv420p", "-b:v", "2M"]).compactMap { try flat.decode($0, \.copy) }
    for (deep, plain) in zip(deep, plain) {
      #expect(deep.size == plain.size && deep.isWhole)
      for (deep, plain) in [(deep.luma, plain.luma), (deep.blue, plain.blue), (deep.red, plain.red)] {
        let differences = zip(deep, plain).map { abs(Int($0) - Int($1)) }
        #expect(Double(differences.reduce(0, +)) / Double(max(1, differences.count)) < 4)
      }
    }
  }

  @Test("other profiles are refused with a sentence", arguments: ["yuv444p", "yuv422p"])
  func otherProfiles(format: String) throws {
    let first = try #require(try frames(["-pix_fmt", format]).first)
    let failure = #expect(throws: CodecError.self) { try VP9Decoder().decode(first, \.size) }
    #expect(failure?.description.contains("it is VP9 of profile 1, and only the profiles 0 and 2 are decoded") == true)
  }

  @Test("damaged frames are refused or skipped, and never crash")
  func damaged() throws {
    let frames = try frames(["-pix_fmt", "yuv420p"])
    var generator = SeededGenerator(seed: 7)
    #expect(throws: CodecError.self) { try VP9Decoder().decode(ByteBuffer(), \.size) }
    #expect(throws: CodecError.self) { try VP9Decoder().decode(frames[1], \.size) }
    let decoder = try VP9Decoder()
    for round in 0..<200 {
      var frame = frames[round % frames.count]
      let position = Int.random(in: 0..<frame.readableBytes, using: &generator)
      frame.setInteger(UInt8.random(in: 0...255, using: &generator), at: frame.readerIndex + position)
      _ = try? decoder.decode(frame, \.size)
    }
  }

  @Test("a keyframe of 16384x16384 is refused without being decoded")
  func hugeVideoFrame() {
    // Frame marker, profile 0, keyframe, shown; sync code; colour configuration; width and height minus one, 16 bits
    // each.
    let header = ByteBuffer(bytes: [0x82, 0x49, 0x83, 0x42, 0x23, 0xFF, 0xF3, 0xFF, 0xF0, 0, 0, 0, 0, 0, 0, 0])
    let failure = #expect(throws: CodecError.self) { try VP9Decoder().decode(header, \.size) }
    #expect(failure?.description.contains("above 4096x4096") == true)
  }

  @Test("an inter frame that states 16384x16 is refused without being decoded, alone or in a superframe")
  func hugeInterFrame() throws {
    let frames = try frames(["-pix_fmt", "yuv420p"])
    // Frame marker, profile 0, inter, shown, error-resilient; all slots refreshed; three references, of which none has the
    // size; width and height minus one, 16 bits each.
    let huge = ByteBuffer(bytes: [0x87, 0xFF, 0x00, 0x00, 0x7F, 0xFE, 0x00, 0x1E, 0, 0, 0, 0, 0, 0, 0, 0])
    var pair = ByteBuffer()
    try #require(VP9Superframe(frames: [frames[0], huge])).write(into: &pair)
    for unit in [huge, pair] {
      let decoder = try VP9Decoder()
      #expect(try decoder.decode(frames[0], \.size) != nil)
      let failure = #expect(throws: CodecError.self) { try decoder.decode(unit, \.size) }
      #expect(failure?.description.contains("16384x16 is above 4096x4096") == true)
      let dependent = #expect(throws: CodecError.self) { try decoder.decode(frames[1], \.size) }
      #expect(dependent?.description.contains("an earlier frame was too large") == true)
      #expect(try decoder.decode(frames[0], \.size) != nil)
    }
  }
}
