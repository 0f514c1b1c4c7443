import Codecs
import Media
import NIOCore
import TestSupport
import Testing

@Suite("VP8")
struct VP8Tests {
  private let size = VideoSize(width: 161, height: 91)

  private func videoFrame(_ index: Int, size: VideoSize) -> VideoFrame {
    var videoFrame = VideoFrame(size: size)
    for y in 0..<size.height {
      for x in 0..<size.width {
        videoFrame.luma[y * size.width + x] = UInt8(truncatingIfNeeded: 40 + (x + y + index * 3) % 160)
      }
    }
    return videoFrame
  }

  @Test("a frame of odd size is nearly unchanged after encoding and decoding")
  func videoFrameSurvives() throws {
    let encoder = try VP8Encoder(VP8Encoder.Settings(size: size))
    let decoder = try VP8Decoder()
    for index in 0..<10 {
      let original = videoFrame(index, size: size)
      let output = try #require(try encoder.encode(original, time: Int64(index) * 3_000))
      #expect(output.isKeyframe == (index == 0))
      let seen = try #require(try decoder.decode(output.payload, \.copy))
      #expect(seen.size == size)
      let error = zip(seen.luma, original.luma).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
      #expect(Double(error) / Double(original.luma.count) < 12)
    }
  }

  @Test("a requested keyframe is encoded")
  func forcedKeyframe() throws {
    let encoder = try VP8Encoder(VP8Encoder.Settings(size: size))
    let keyframes = try (0..<6).map { index in
      try encoder.encode(videoFrame(index, size: size), time: Int64(index) * 3_000, keyframe: index == 4)?.isKeyframe
    }
    #expect(keyframes == [true, false, false, false, true, false])
  }

  @Test("only a keyframe states its size")
  func keyframeSize() throws {
    let encoder = try VP8Encoder(VP8Encoder.Settings(size: size))
    let first = try #require(try encoder.encode(videoFrame(0, size: size), time: 0))
    let second = try #require(try encoder.encode(videoFrame(1, size: size), time: 3_000))
    #expect(try VP8Decoder.keyframeSize(of: first.payload) == size)
    #expect(try VP8Decoder.keyframeSize(of: second.payload) == nil)
    #expect(try VP8Decoder.keyframeSize(of: ByteBuffer()) == nil)
  }

  @Test("a keyframe of 16383x16383 is refused without being decoded")
  func hugeVideoFrame() throws {
    let header = ByteBuffer(bytes: [0x10, 0x02, 0x00, 0x9D, 0x01, 0x2A, 0xFF, 0x3F, 0xFF, 0x3F, 0, 0, 0, 0])
    #expect(throws: CodecError.self) { try VP8Decoder.keyframeSize(of: header) }
    #expect(throws: CodecError.self) { try VP8Decoder().decode(header) }
  }

  @Test("undecodable frames are refused with a sentence")
  func damaged() throws {
    let encoder = try VP8Encoder(VP8Encoder.Settings(size: size))
    let first = try #require(try encoder.encode(videoFrame(0, size: size), time: 0)).payload
    let second = try #require(try encoder.encode(videoFrame(1, size: size), time: 3_000)).payload
    #expect(throws: CodecError.self) { try VP8Decoder().decode(second) }
    #expect(throws: CodecError.self) { try VP8Decoder().decode(ByteBuffer()) }
    let cut = try #require(first.getSlice(at: first.readerIndex, length: 12))
    #expect(throws: CodecError.self) { try VP8Decoder().decode(cut) }
  }

  @Test("the view of a grey frame has its brightness")
  func brightness() throws {
    let encoder = try VP8Encoder(VP8Encoder.Settings(size: size))
    let grey = try #require(try encoder.encode(VideoFrame(size: size, luma: 90), time: 0))
    let brightness = try #require(try VP8Decoder().decode(grey.payload, \.brightness))
    #expect(abs(brightness - 90) < 3)
  }

  @Test("invalid settings are refused")
  func badSettings() throws {
    #expect(throws: CodecError.self) {
      try VP8Encoder(VP8Encoder.Settings(size: VideoSize(width: 0, height: 10)))
    }
    let encoder = try VP8Encoder(VP8Encoder.Settings(size: size))
    #expect(throws: CodecError.self) {
      try encoder.encode(VideoFrame(size: VideoSize(width: 10, height: 10)), time: 0)
    }
    try encoder.setBitrate(200_000)
  }

  /// Returns a frame that no encoder can predict.
  private func noise(_ generator: inout SeededGenerator, size: VideoSize) -> VideoFrame {
    var videoFrame = VideoFrame(size: size)
    for index in videoFrame.luma.indices { videoFrame.luma[index] = UInt8(truncatingIfNeeded: generator.next()) }
    return videoFrame
  }

  @Test("the last quantizer is coarse at a low bitrate and fine at a high one")
  func quantizer() throws {
    var settings = VP8Encoder.Settings(size: size)
    settings.bitrate = 20_000
    settings.coarsestQuantizer = 50
    let encoder = try VP8Encoder(settings)
    #expect(encoder.lastQuantizer == nil)
    var generator = SeededGenerator(seed: 1)
    for index in 0..<10 {
      let videoFrame = noise(&generator, size: size)
      _ = try encoder.encode(videoFrame, time: Int64(index) * 3_000)
    }
    #expect(encoder.lastQuantizer == 50)
    try encoder.setBitrate(20_000_000)
    for index in 10..<20 { _ = try encoder.encode(VideoFrame(size: size), time: Int64(index) * 3_000) }
    #expect(try #require(encoder.lastQuantizer) < 10)
  }

  @Test("an encoder that does not choose keyframes makes none at a scene cut")
  func chosenKeyframes() throws {
    var settings = VP8Encoder.Settings(size: size)
    settings.choosesKeyframes = false
    settings.keyframeDistance = 5
    let encoder = try VP8Encoder(settings)
    var generator = SeededGenerator(seed: 2)
    let keyframes = try (0..<30).map { index in
      let still = VideoFrame(size: size, luma: UInt8(index))
      let videoFrame = index % 10 < 5 ? still : noise(&generator, size: size)
      return try encoder.encode(videoFrame, time: Int64(index) * 3_000, keyframe: index == 17)?.isKeyframe ?? false
    }
    #expect(keyframes.indices.filter { keyframes[$0] } == [0, 17])
  }
}
