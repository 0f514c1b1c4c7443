import Bitstream
import Codecs
import Foundation
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Encoding H.264")
struct H264EncoderTests {
  private static let size = VideoSize(width: 320, height: 240)

  private func settings(_ bitrate: Int = 500_000) -> VideoEncoder.Settings {
    var settings = VideoEncoder.Settings(size: Self.size)
    settings.bitrate = bitrate
    settings.choosesKeyframes = false
    settings.maximumKeyframePercentage = 450
    return settings
  }

  /// A frame that is hard to predict.
  private func noise(_ number: Int) -> VideoFrame {
    var frame = VideoFrame(size: Self.size)
    var state = UInt32(number) &* 2_654_435_761 | 1
    for index in frame.luma.indices {
      state = state &* 1_664_525 &+ 1_013_904_223
      frame.luma[index] = UInt8(truncatingIfNeeded: 100 + (index / 320 + number * 3) % 60 + Int(state >> 28))
    }
    return frame
  }

  @Test("ffmpeg decodes all frames: constrained baseline without B-frames, parameter sets in each keyframe")
  func decodes() throws {
    let encoder = try VideoEncoder(.h264, settings())
    var stream = Data()
    for number in 0..<30 {
      let output = try #require(try encoder.encode(noise(number), time: Int64(number) * 3_000, keyframe: number == 20))
      let header = try #require(FrameHeader(parsing: output.payload, of: .h264).video)
      #expect(header.isKeyframe == (number % 20 == 0) && header.isKeyframe == output.isKeyframe)
      if header.isKeyframe {
        let units = Array(H264NALUnits(output.payload))
        #expect(units.prefix(2).map(\.type) == [.sequenceParameterSet, .pictureParameterSet])
        let parameters = try #require(AVCDecoderConfiguration(keyframe: output.payload)?.parameters)
        #expect(parameters.profileIDC == 66 && parameters.constraintFlags & 0x40 != 0)
        #expect(parameters.reorderedFrames == 0)
        #expect(header.size == Self.size)
      }
      for unit in H264NALUnits(output.payload) {
        stream.append(contentsOf: [0, 0, 0, 1])
        stream.append(contentsOf: unit.bytes.readableBytesView)
      }
    }
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("h264-\(UUID().uuidString).h264")
    try stream.write(to: path)
    defer { try? FileManager.default.removeItem(at: path) }
    let result = try ExternalTool.run(
      "ffprobe",
      ["-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames,profile", "-of", "csv=p=0", path.path])
    #expect(result.output.contains("Constrained Baseline,30") && result.errors.isEmpty)
  }

  @Test("the bitrate follows, up and down, also for longer frames", arguments: [3_000, 6_000])
  func bitrate(duration: Int) throws {
    let encoder = try VideoEncoder(.h264, settings(800_000))
    var time: Int64 = 0
    for bitrate in [800_000, 200_000, 1_200_000] {
      try encoder.setBitrate(bitrate)
      var bits = 0
      for number in 0..<90 {
        let output = try encoder.encode(noise(Int(time)), time: time, duration: duration)
        time += Int64(duration)
        // The first second is for the change.
        if number >= 30 { bits += (output?.payload.readableBytes ?? 0) * 8 }
      }
      let seconds = Double(60 * duration) / 90_000
      let ratio = Double(bits) / seconds / Double(bitrate)
      #expect(ratio > 0.6 && ratio < 1.25, "\(bitrate): \(ratio)")
    }
  }

  @Test("sides that H.264 cannot have are refused")
  func odd() {
    #expect(throws: CodecError.self) { try VideoEncoder(.h264, .init(size: VideoSize(width: 33, height: 32))) }
  }
}
