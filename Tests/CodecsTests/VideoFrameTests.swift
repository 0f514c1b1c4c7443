import Codecs
import Media
import TestSupport
import Testing

@Suite("Uncompressed frames")
struct VideoFrameTests {
  private func videoFrame(_ size: VideoSize, _ layout: PixelLayout, _ bytes: [UInt8]) throws -> VideoFrame {
    // Typed throws do not pass through `withUnsafeBytes`.
    try bytes.withUnsafeBytes { bytes in
      Result { () throws(CodecError) in try VideoFrame(size: size, layout: layout, bytes: bytes) }
    }.get()
  }

  @Test("I420 planes are copied unchanged, with odd sides too")
  func i420() throws {
    let size = VideoSize(width: 5, height: 3)
    let bytes = (0..<15 + 6 + 6).map { UInt8($0) }
    let taken = try videoFrame(size, .i420, bytes)
    #expect(taken.luma == Array(0..<15))
    #expect(taken.blue == Array(15..<21))
    #expect(taken.red == Array(21..<27))
  }

  @Test("chroma of higher resolution is averaged", arguments: [PixelLayout.i422, .i444])
  func averages(layout: PixelLayout) throws {
    let size = VideoSize(width: 16, height: 16)
    let count = try #require(layout.byteCount(for: size))
    let colours = (count - 256) / 2
    let width = layout == .i422 ? 8 : 16
    // Rows of 100 and 120 in turn.
    let blue = (0..<colours).map { UInt8($0 / width % 2 == 0 ? 100 : 120) }
    let taken = try videoFrame(
      size, layout, [UInt8](repeating: 90, count: 256) + blue + [UInt8](repeating: 77, count: colours))
    #expect(taken.luma == [UInt8](repeating: 90, count: 256))
    #expect(taken.blue == [UInt8](repeating: 110, count: 64))
    #expect(taken.red == [UInt8](repeating: 77, count: 64))
  }

  @Test("grey frames have neutral chroma")
  func grey() throws {
    let taken = try videoFrame(VideoSize(width: 3, height: 3), .grey, Array(1...9))
    #expect(taken.luma == Array(1...9))
    #expect(taken.blue == [128, 128, 128, 128])
    #expect(taken.red == taken.blue)
  }

  @Test(
    "RGB is converted to BT.601 in limited range",
    arguments: [
      ([0, 0, 0], [16, 128, 128]), ([255, 255, 255], [235, 128, 128]), ([255, 0, 0], [82, 90, 240]),
      ([0, 255, 0], [145, 54, 34]), ([0, 0, 255], [41, 240, 110]),
    ] as [([UInt8], [Int])])
  func colours(pixel: [UInt8], expected: [Int]) throws {
    let size = VideoSize(width: 17, height: 4)
    let pixels = [[UInt8]](repeating: pixel, count: 68).flatMap(\.self)
    let clear = [[UInt8]](repeating: pixel + [255], count: 68).flatMap(\.self)
    for taken in [try videoFrame(size, .rgb, pixels), try videoFrame(size, .rgba, clear)] {
      let values = [Int(taken.luma[20]), Int(taken.blue[10]), Int(taken.red[10])]
      #expect(zip(values, expected).allSatisfy { abs($0 - $1) <= 2 })
    }
  }

  @Test("transparent pixels are composited over black")
  func transparent() throws {
    let size = VideoSize(width: 4, height: 2)
    let taken = try videoFrame(size, .rgba, [[UInt8]](repeating: [255, 255, 255, 0], count: 8).flatMap(\.self))
    #expect(taken.luma.allSatisfy { $0 == 16 })
    let half = try videoFrame(size, .rgba, [[UInt8]](repeating: [255, 255, 255, 128], count: 8).flatMap(\.self))
    #expect(half.luma.allSatisfy { abs(Int($0) - 126) <= 2 })
  }

  @Test("scaling keeps the mean, at even and odd sizes", arguments: [(16, 12), (33, 7), (64, 48), (150, 101), (2, 2)])
  func scaling(width: Int, height: Int) throws {
    var generator = SeededGenerator(seed: 3)
    var original = VideoFrame(size: VideoSize(width: 65, height: 49))
    original.luma = original.luma.map { _ in UInt8(16 + generator.next() % 200) }
    original.blue = original.blue.map { _ in 90 }
    let scaled = try original.scaled(to: VideoSize(width: width, height: height))
    #expect(scaled.size == VideoSize(width: width, height: height))
    #expect(scaled.isWhole)
    func mean(_ plane: [UInt8]) -> Int { plane.reduce(0) { $0 + Int($1) } / plane.count }
    #expect(abs(mean(scaled.luma) - mean(original.luma)) <= 8)
    #expect(scaled.blue.allSatisfy { abs(Int($0) - 90) <= 1 })
    #expect(try original.scaled(to: original.size) == original)
  }

  @Test("a quarter of the width and height is the mean of sixteen pixels each")
  func box() throws {
    var original = VideoFrame(size: VideoSize(width: 64, height: 64))
    for index in original.luma.indices { original.luma[index] = index % 4 == 0 ? 116 : 16 }
    let scaled = try original.scaled(to: VideoSize(width: 16, height: 16))
    #expect(scaled.luma.allSatisfy { abs(Int($0) - 41) <= 1 })
  }

  @Test("the longest sides are accepted, and sides out of bounds are refused")
  func bounds() throws {
    let long = try VideoFrame(size: VideoSize(width: 16_383, height: 2)).scaled(
      to: VideoSize(width: 2, height: 16_383))
    #expect(long.isWhole)
    let small = VideoFrame(size: VideoSize(width: 16, height: 16))
    for (width, height) in [(0, 4), (1, 4), (4, 16_384), (-5, -5), (.max, .max)] {
      let size = VideoSize(width: width, height: height)
      #expect(throws: CodecError.self) { try small.scaled(to: size) }
      for layout in PixelLayout.allCases {
        #expect(layout.byteCount(for: size) == nil)
        #expect(throws: CodecError.self) { try videoFrame(size, layout, [1, 2, 3]) }
      }
    }
    #expect(throws: CodecError.self) { try VideoFrame(size: VideoSize(width: 1, height: 1)).scaled(to: small.size) }
  }

  @Test("a frame whose bytes do not match its size is refused", arguments: PixelLayout.allCases)
  func wrongBytes(layout: PixelLayout) throws {
    let size = VideoSize(width: 6, height: 4)
    let count = try #require(layout.byteCount(for: size))
    #expect(try videoFrame(size, layout, [UInt8](repeating: 50, count: count)).isWhole)
    for wrong in [0, 1, count - 1, count + 1] {
      #expect(throws: CodecError.self) { try videoFrame(size, layout, [UInt8](repeating: 50, count: wrong)) }
    }
    var cut = VideoFrame(size: size)
    cut.luma.removeLast()
    #expect(throws: CodecError.self) { try cut.scaled(to: VideoSize(width: 2, height: 2)) }
    #expect(throws: CodecError.self) { try VP8Encoder(VP8Encoder.Settings(size: size)).encode(cut, time: 0) }
  }
}
