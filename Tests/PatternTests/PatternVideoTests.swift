import Codecs
import Media
import NIOCore
import TestSupport
import Testing

@testable import Pattern

@Suite("The pattern's frames")
struct PatternVideoTests {
  static let vga = VideoSize(width: 640, height: 480)
  private static let start: UInt64 = 1_795_280_400_123

  private func painted(_ size: VideoSize = vga, frame: UInt32 = 0xDEAD_BEEF) -> (VideoFrame, PatternReading) {
    let reading = PatternReading(streamID: 0xA55A, frameNumber: frame, time: Self.start)
    return (PatternPainter(size: size, streamID: 0xA55A).videoFrame(frame: frame, time: Self.start), reading)
  }

  @Test(
    "every frame is read after VP8 at its own size and at a quarter of it",
    arguments: [(100_000, 300), (300_000, 60), (2_000_000, 60)])
  func throughVP8(bitrate: Int, frames: Int) throws {
    var settings = VP8Encoder.Settings(size: Self.vga)
    settings.bitrate = bitrate
    let encoder = try VP8Encoder(settings)
    let decoder = try VP8Decoder()
    let painter = PatternPainter(size: Self.vga, streamID: 7)
    let quarter = VideoSize(width: 160, height: 120)
    var bytes = 0
    for number in 0..<UInt32(frames) {
      let expected = PatternReading(
        streamID: 7, frameNumber: number, time: Self.start + UInt64(number) * 100 / 3)
      let videoFrame = painter.videoFrame(frame: number, time: expected.time)
      let output = try #require(try encoder.encode(videoFrame, time: Int64(number) * 3_000))
      bytes += output.payload.readableBytes
      let seen = try #require(try decoder.decode(output.payload) { ($0.copy, PatternReader().read($0)) })
      #expect(seen.1 == .success(expected))
      let small = PatternReader().read(try seen.0.scaled(to: quarter))
      #expect(small == .success(expected))
    }
    let measured = bytes * 8 * 30 / frames
    print(
      "measured: pattern 640x480 at 30 fps, encoder at \(bitrate / 1_000) kb/s: \(measured / 1_000) kb/s came out, all \(frames) frames read"
    )
    #expect(measured < bitrate * 105 / 100)
  }

  @Test("a small encoded frame is read, too")
  func smallEncoder() throws {
    let size = VideoSize(width: 160, height: 120)
    var settings = VP8Encoder.Settings(size: size)
    settings.bitrate = 40_000
    let encoder = try VP8Encoder(settings)
    let decoder = try VP8Decoder()
    let painter = PatternPainter(size: Self.vga)
    for number in 0..<UInt32(90) {
      let videoFrame = try painter.videoFrame(frame: number, time: UInt64(number) * 33).scaled(to: size)
      let output = try #require(try encoder.encode(videoFrame, time: Int64(number) * 3_000))
      let seen = try #require(try decoder.decode(output.payload) { PatternReader().read($0) })
      #expect(seen == .success(PatternReading(streamID: 0, frameNumber: number, time: UInt64(number) * 33)))
    }
  }

  @Test(
    "a frame of any size can be read",
    arguments: [
      (160, 120), (161, 121), (176, 144), (240, 427), (320, 180), (640, 360), (853, 480), (1_280, 720), (1_920, 1_080),
    ])
  func sizes(width: Int, height: Int) throws {
    let (videoFrame, expected) = painted(VideoSize(width: width, height: height))
    #expect(PatternReader().read(videoFrame) == .success(expected))
  }

  @Test(
    "a frame is still read after scaling by odd factors", arguments: [(160, 120), (213, 160), (480, 360), (1_000, 700)])
  func scaling(width: Int, height: Int) throws {
    let (videoFrame, expected) = painted()
    let scaled = try videoFrame.scaled(to: VideoSize(width: width, height: height))
    #expect(PatternReader().read(scaled) == .success(expected))
  }

  @Test("brightness, contrast and noise do not matter", arguments: [(30, 100), (100, 40), (-20, 160), (0, 100)])
  func greyScale(brightness: Int, contrast: Int) {
    let (videoFrame, expected) = painted()
    var generator = SeededGenerator(seed: 4)
    var changed = videoFrame
    changed.luma = videoFrame.luma.map { value in
      let noise = Int(generator.next() % 41) - 20
      return UInt8(clamping: (Int(value) - 128) * contrast / 100 + 128 + brightness + noise)
    }
    #expect(PatternReader().read(changed) == .success(expected))
  }

  @Test(
    "bars around the frame are skipped",
    arguments: [(640, 640, 0, 80, 16), (854, 480, 107, 0, 16), (800, 600, 80, 60, 128), (641, 481, 1, 1, 0)])
  func bars(width: Int, height: Int, left: Int, top: Int, luma: Int) throws {
    let (videoFrame, expected) = painted()
    var around = VideoFrame(size: VideoSize(width: width, height: height), luma: UInt8(luma))
    for row in 0..<480 {
      let line = videoFrame.luma[row * 640..<(row + 1) * 640]
      around.luma.replaceSubrange((row + top) * width + left..<(row + top) * width + left + 640, with: line)
    }
    #expect(PatternReader().read(around) == .success(expected))
    let half = try around.scaled(to: VideoSize(width: width / 2, height: height / 2))
    #expect(PatternReader().read(half) == .success(expected))
  }

  @Test("other frames are never read")
  func otherVideoFrames() {
    var generator = SeededGenerator(seed: 21)
    let size = VideoSize(width: 160, height: 120)
    #expect(PatternReader().read(VideoFrame(size: size)) == .failure(.noPattern))
    #expect(PatternReader().read(VideoFrame(size: size, luma: 255)) == .failure(.noPattern))
    #expect(PatternReader().read(VideoFrame(size: VideoSize(width: 39, height: 30))) == .failure(.tooSmall))
    var accepted = 0
    for _ in 0..<50 {
      var videoFrame = VideoFrame(size: size)
      videoFrame.luma = (0..<size.width * size.height).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
      if case .success = PatternReader().read(videoFrame) { accepted += 1 }
    }
    #expect(accepted == 0)
  }

  @Test("a pattern whose cells are random is not read")
  func falseAccepts() {
    let size = VideoSize(width: 160, height: 120)
    let (videoFrame, _) = painted(size)
    let layout = PatternLayout(size: size)
    var generator = SeededGenerator(seed: 22)
    var accepted = 0
    let attempts = 3_000
    for _ in 0..<attempts {
      var random = videoFrame
      random.withCanvas { canvas in
        for index in 0..<128 { canvas.fill(layout.codeCell(index), luma: generator.next() & 1 == 0 ? 24 : 224) }
      }
      if case .success = PatternReader().read(random) { accepted += 1 }
    }
    print(
      "measured: \(accepted) of \(attempts) patterns with random clear cells were read; CRC-32 lets 1 in 4.3e9 pass")
    #expect(accepted == 0)
  }

  @Test("a torn frame is refused, not misread")
  func tornVideoFrames() {
    let painter = PatternPainter(size: Self.vga)
    for number in 0..<UInt32(20) {
      let before = painter.videoFrame(frame: number, time: Self.start + UInt64(number) * 33)
      var torn = painter.videoFrame(frame: number + 1, time: Self.start + UInt64(number + 1) * 33)
      // The tear is inside the code, between the frame number and the checksum.
      let cut = 640 * 300
      torn.luma.replaceSubrange(0..<cut, with: before.luma[0..<cut])
      #expect(PatternReader().read(torn) == .failure(.wrongChecksum))
    }
  }

  @Test("two blended frames are refused")
  func blendedVideoFrames() {
    let painter = PatternPainter(size: Self.vga)
    let one = painter.videoFrame(frame: 1, time: Self.start)
    var other = painter.videoFrame(frame: 2, time: Self.start + 33)
    other.luma = zip(one.luma, other.luma).map { UInt8((Int($0) + Int($1)) / 2) }
    guard case .failure(.unclear(let cells)) = PatternReader().read(other) else {
      Issue.record("It was not found to be unclear.")
      return
    }
    #expect(cells > 5)
  }

  @Test("any size can be painted", arguments: [(1, 1), (2, 2), (3, 50), (4_000, 2), (16, 16)])
  func oddSizes(width: Int, height: Int) {
    let size = VideoSize(width: width, height: height)
    let videoFrame = PatternPainter(size: size).videoFrame(frame: .max, time: .max)
    #expect(videoFrame.size == size)
    #expect(videoFrame.isWhole)
  }

  @Test("the lamp is lit during the mark")
  func lamp() {
    let painter = PatternPainter(size: Self.vga)
    func lamp(_ time: UInt64) -> UInt8 { painter.videoFrame(frame: 0, time: time).luma[100 * 640 + 620] }
    #expect(lamp(5_000) > 200)
    #expect(lamp(5_119) > 200)
    #expect(lamp(5_120) < 60)
    #expect(lamp(5_999) < 60)
  }

  @Test("the clock shows the time of day in UTC")
  func clock() {
    // 2026-11-21 17:00:00.123 UTC.
    #expect(PatternFont.clock(1_795_280_400_123) == [1, 7, 10, 0, 0, 10, 0, 0, 11, 1])
    #expect(PatternFont.clock(86_399_999) == [2, 3, 10, 5, 9, 10, 5, 9, 11, 9])
  }

  @Test("a written code is read back, and one wrong bit is detected")
  func bytes() {
    let reading = PatternReading(streamID: 0x1234, frameNumber: 0x5678_9ABC, time: 0xDEF0_1234_5678)
    #expect(reading.bytes.prefix(12) == [0x12, 0x34, 0x56, 0x78, 0x9A, 0xBC, 0xDE, 0xF0, 0x12, 0x34, 0x56, 0x78])
    #expect(PatternReading(bytes: reading.bytes) == reading)
    for bit in 0..<128 {
      var wrong = reading.bytes
      wrong[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(PatternReading(bytes: wrong) == nil)
    }
    // The standard check value of CRC-32.
    #expect(PatternChecksum.of(Array("123456789".utf8)) == 0xCBF4_3926)
  }

  @Test("painting and reading are cheap")
  func speed() {
    let painter = PatternPainter(size: Self.vga)
    let clock = ContinuousClock()
    let videoFrames = 100
    var painting = Duration.zero
    var reading = Duration.zero
    var read = 0
    for number in 0..<UInt32(videoFrames) {
      let before = clock.now
      let videoFrame = painter.videoFrame(frame: number, time: Self.start)
      let between = clock.now
      if case .success = PatternReader().read(videoFrame) { read += 1 }
      painting += between - before
      reading += clock.now - between
    }
    #if DEBUG
      let build = "debug"
    #else
      let build = "release"
    #endif
    print("measured: pattern 640x480, \(build): painted in \(painting / videoFrames), read in \(reading / videoFrames)")
    #expect(read == videoFrames)
    #expect(painting / videoFrames < .milliseconds(20))
    #expect(reading / videoFrames < .milliseconds(20))
  }
}
