import Foundation
import Testing

extension EndToEndWithoutBrowsers {
  /// The measuring of files, tested with a file whose values are known.
  @Suite("measuring of recordings") struct MeasuringTests {
    @Test("the sample's values are measured, and its flashes and beeps start together")
    func sampleIsMeasured() throws {
      let sample = try Recording(BuiltProgram.sample)
      let video = try #require(sample.video)
      #expect(video.codec == "vp8" && video.width == 640 && video.height == 480)
      #expect(video.times.count == 300)
      #expect(abs(video.framesPerSecond - 30) < 0.1)
      #expect(video.keyframes.count { $0 } == 10)
      #expect(sample.audio?.times.count == 500)
      #expect(abs(sample.duration - 10) < 0.05)
      #expect(try sample.decodingErrors() == "")
      #expect(try Set(sample.videoFrameDigests()).count == 300)
      #expect(try sample.matroska().isValid)
      let signs = try FlashesAndBeeps(in: sample)
      // The flash of the first second has no dark frame before it.
      #expect(signs.flashes.count == 9)
      #expect(abs(signs.offset ?? 1) < 0.010, "\(signs)")
    }
  }
}
