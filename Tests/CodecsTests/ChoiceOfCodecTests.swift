import Codecs
import Media
import Testing

@Suite("The choice of a decoder and an encoder by codec")
struct ChoiceOfCodecTests {
  private static let size = VideoSize(width: 64, height: 48)

  @Test("what the encoder of a video codec writes, its decoder reads", arguments: Codec.encodedLive)
  func video(codec: Codec) throws {
    var settings = VideoEncoder.Settings(size: Self.size)
    settings.choosesKeyframes = false
    let encoder = try VideoEncoder(codec, settings)
    let decoder = try VideoDecoder(codec)
    #expect(decoder.codec == codec)
    for number in 0..<5 {
      let videoFrame = VideoFrame(size: Self.size, luma: UInt8(50 + 30 * number))
      let output = try #require(try encoder.encode(videoFrame, time: Int64(number) * 3_000, keyframe: number == 3))
      let header = try #require(FrameHeader(parsing: output.payload, of: codec).video)
      #expect(header.isKeyframe == (number % 3 == 0) && header.isKeyframe == output.isKeyframe)
      #expect(header.size == (header.isKeyframe ? Self.size : nil))
      #expect(header.isShown)
      let brightness = try #require(try decoder.decode(output.payload, \.brightness))
      #expect(abs(brightness - Double(50 + 30 * number)) < 8)
    }
    #expect(encoder.lastQuantizer != nil)
    try encoder.setBitrate(500_000)
    #expect(encoder.settings.bitrate == 500_000)
  }

  @Test("an audio codec has no decoder or encoder of video", arguments: Codec.all(of: .audio))
  func noVideo(codec: Codec) {
    #expect(throws: CodecError.self) { try VideoDecoder(codec) }
    #expect(throws: CodecError.self) { try VideoEncoder(codec, .init(size: Self.size)) }
  }

  @Test("a video codec has no decoder of audio", arguments: Codec.all(of: .video))
  func noAudio(codec: Codec) {
    #expect(throws: CodecError.self) { try AudioDecoder(codec) }
  }

  @Test("a decoder of audio conceals in its own channels", arguments: Codec.all(of: .audio))
  func audio(codec: Codec) throws {
    let decoder = try AudioDecoder(codec, channels: 1)
    #expect(decoder.channels == 1 && decoder.codec == codec)
    #expect(try decoder.conceal(duration: 960).count == 960)
    #expect(decoder.maximumPacketSamples >= 960)
  }

  @Test("frames above 4096 in a side are not decoded")
  func sizes() {
    #expect(VideoDecoder.accepts(nil))
    #expect(VideoDecoder.accepts(VideoSize(width: 4_096, height: 1)))
    #expect(!VideoDecoder.accepts(VideoSize(width: 4_097, height: 16)))
    #expect(!VideoDecoder.accepts(VideoSize(width: 0, height: 16)))
  }
}
