import Bitstream
import NIOCore
import TestSupport
import Testing

@Suite("VP9 frame header")
struct VP9FrameHeaderTests {
  @Test("a keyframe contains its size")
  func keyframeSize() throws {
    // BT.601, studio range; the size follows after four bits.
    let header = try VP9FrameHeader(parsing: bytes("82 498342 2009F0059000"))
    #expect(header.isKeyframe && header.isShown && !header.isErrorResilient)
    #expect(header.profile == 0)
    #expect(header.size == .init(width: 160, height: 90))
    #expect(header.refreshFrameFlags == 0xFF)
  }

  @Test("a frame can show an earlier one")
  func showsExisting() throws {
    let header = try VP9FrameHeader(parsing: bytes("8D"))
    #expect(header.kind == .showsExisting(slot: 5))
    #expect(header.isShown && !header.isKeyframe && header.refreshFrameFlags == 0 && header.size == nil)
    #expect(try header.extent(in: bytes("8D"))?.bytes == 1)
    // With profile 3 there is a reserved bit before.
    #expect(try VP9FrameHeader(parsing: bytes("B680")).kind == .showsExisting(slot: 5))
  }

  @Test("an inter frame takes its size from a reference")
  func references() throws {
    var generator = SeededGenerator(seed: 3)
    let frame = VP9HeaderBits.interFrame(
      profile: 0, width: 320, height: 180, found: 1, slots: [4, 6, 1], using: &generator)
    let bytes = ByteBuffer(bytes: frame.bytes)
    #expect(try VP9FrameHeader(parsing: bytes).size == nil)
    #expect(try VP9FrameHeader(parsing: bytes).extent(in: bytes) == nil)
    var references = VP9ReferenceSizes()
    let first = try VP9FrameHeader(parsing: self.keyframeBytes(width: 320, height: 180))
    references.update(after: first)
    let header = try VP9FrameHeader(parsing: bytes, references: references)
    #expect(header.kind == .inter(references: [4, 6, 1]))
    #expect(header.size == .init(width: 320, height: 180))
    let extent = try #require(try header.extent(in: bytes))
    #expect(extent.bits == frame.count && extent.compressedHeaderSize == 5)
  }

  @Test("the sizes of references follow the frames that are stored")
  func sizes() throws {
    var references = VP9ReferenceSizes()
    #expect(references[0] == nil && references[8] == nil && references[-1] == nil)
    references.update(after: try VP9FrameHeader(parsing: keyframeBytes(width: 64, height: 48)))
    #expect((0..<8).allSatisfy { references[$0] == .init(width: 64, height: 48) })
    // An intra-only frame of 32x16 that is stored in slots 1 and 7: profile 0 has no colour configuration.
    var intra = VP9HeaderBits()
    intra.write(0b1000_0100, 8)
    intra.write(0b1_00, 3)
    intra.write(0x49_8342, 24)
    intra.write(0b1000_0010, 8)
    intra.write(31, 16)
    intra.write(15, 16)
    intra.write(0, 1)
    let header = try VP9FrameHeader(parsing: ByteBuffer(bytes: intra.bytes))
    #expect(header.kind == .intraOnly && !header.isShown)
    references.update(after: header)
    #expect(references[1] == .init(width: 32, height: 16) && references[7] == references[1])
    #expect(references[0] == .init(width: 64, height: 48))
    references.removeAll()
    #expect(references == VP9ReferenceSizes())
  }

  @Test("a header that is cut off, of another codec or with a wrong sync code is rejected")
  func errors() {
    func failure(_ hex: String) -> String {
      sentence { () throws(ParseError) in _ = try VP9FrameHeader(parsing: bytes(hex)) }
    }
    #expect(failure("") == "A VP9 frame header needs 1 byte, but none arrived.")
    #expect(failure("82 49") == "A VP9 frame header needs 4 bytes, but only 2 arrived.")
    #expect(failure("10 02") == "A VP9 frame marker must be 2, but it is 0.")
    #expect(failure("82 498343 20") == "A VP9 frame's sync code must be 4817730, but it is 4817731.")
    #expect(failure("82 498342 E0") == "The profile of a VP9 frame with RGB must be 1 or 3, but it is 0.")
    #expect(failure("B8") == "A reserved bit of a VP9 frame header must be 0, but it is 1.")
  }

  @Test(
    "the lengths of all headers are those that ffmpeg finds",
    arguments: [
      ("hidden frames, superframes", "160x90", VP9Stream.hidingFrames),
      (
        "tiles, segmentation", "1100x64",
        [
          "-deadline", "realtime", "-cpu-used", "8", "-aq-mode", "3", "-tile-columns", "2", "-error-resilient", "1",
        ]
      ),
      ("profile 1", "162x90", ["-pix_fmt", "yuv444p", "-deadline", "realtime", "-cpu-used", "8"]),
      ("profile 2", "162x90", ["-pix_fmt", "yuv420p10le", "-deadline", "realtime", "-cpu-used", "8"]),
      ("profile 3", "520x90", ["-pix_fmt", "yuv422p10le", "-deadline", "realtime", "-cpu-used", "8"]),
      ("RGB", "162x90", ["-pix_fmt", "gbrp", "-deadline", "realtime", "-cpu-used", "8"]),
    ])
  func extents(name: String, size: String, arguments: [String]) throws {
    let stream = try VP9Stream(arguments, size: size, passes: arguments == VP9Stream.hidingFrames ? 2 : 1)
    var references = VP9ReferenceSizes()
    var found: [VP9Stream.Extent] = []
    for unit in stream.units {
      for frame in try VP9Superframe(parsing: unit).frames {
        let header = try VP9FrameHeader(parsing: frame, references: references)
        references.update(after: header)
        let extent = try #require(try header.extent(in: frame))
        if case .showsExisting = header.kind { continue }
        #expect(extent.bytes + extent.compressedHeaderSize <= frame.readableBytes)
        found.append(VP9Stream.Extent(extent))
      }
    }
    #expect(found.count >= 45)
    #expect(found == stream.extents)
  }

  @Test("random inter frames are hidden with one bit more, and everything else stays", arguments: 0..<4)
  func hiding(profile: Int) throws {
    var generator = SeededGenerator(seed: UInt64(100 + profile))
    for round in 0..<300 {
      let width = Int.random(in: 1...5_000, using: &generator)
      let found = round % 4 == 3 ? nil : round % 4
      var references = VP9ReferenceSizes()
      references.update(after: try VP9FrameHeader(parsing: keyframeBytes(width: width, height: 90)))
      let bits = VP9HeaderBits.interFrame(
        profile: profile, width: width, height: 90, found: found,
        slots: (0..<3).map { _ in Int.random(in: 0...7, using: &generator) }, using: &generator)
      let data = (0..<20).map { _ in UInt8.random(in: 0...255, using: &generator) }
      // Not at the beginning of its buffer.
      var frame = ByteBuffer(bytes: [1, 2, 3] + bits.bytes + data)
      frame.moveReaderIndex(forwardBy: 3)
      let header = try VP9FrameHeader(parsing: frame, references: references)
      let hidden = try #require(header.hiding(frame))
      let after = try VP9FrameHeader(parsing: hidden, references: references)
      #expect(!after.isShown)
      #expect(after.kind == header.kind && after.size == header.size && after.profile == header.profile)
      #expect(after.refreshFrameFlags == header.refreshFrameFlags)
      #expect(after.isErrorResilient == header.isErrorResilient)
      let extent = try #require(try after.extent(in: hidden))
      #expect(extent.bits == bits.count + 1 && extent.compressedHeaderSize == 5)
      #expect(Array(hidden.readableBytesView.dropFirst(extent.bytes)) == data)
      #expect(after.hiding(hidden) == hidden)
    }
  }

  @Test("a keyframe is hidden by a single bit, and a cut-off frame not at all")
  func hidingKeyframe() throws {
    let stream = try VP9Stream(["-deadline", "realtime", "-cpu-used", "8"], size: "64x48")
    let frame = try #require(stream.units.first)
    let header = try VP9FrameHeader(parsing: frame)
    let hidden = try #require(header.hiding(frame))
    #expect(hidden.readableBytes == frame.readableBytes)
    #expect(
      zip(hidden.readableBytesView, frame.readableBytesView).filter { $0 != $1 }.map { [$0, $1] } == [[0x80, 0x82]])
    #expect(try VP9FrameHeader(parsing: hidden).isShown == false)
    #expect(header.hiding(frame.getSlice(at: 0, length: 20) ?? ByteBuffer()) == nil)
    #expect(try VP9FrameHeader(parsing: bytes("8D")).hiding(bytes("8D")) == nil)
  }

  private func keyframeBytes(width: Int, height: Int) -> ByteBuffer {
    var bits = VP9HeaderBits()
    bits.write(0x82, 8)
    bits.write(0x49_8342, 24)
    bits.write(0b0010, 4)
    bits.write(width - 1, 16)
    bits.write(height - 1, 16)
    bits.write(0, 1)
    return ByteBuffer(bytes: bits.bytes)
  }
}
