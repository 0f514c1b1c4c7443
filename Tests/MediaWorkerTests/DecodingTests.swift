import Codecs
import Foundation
import Media
import MediaWorker
import NIOCore
import TestSupport
import Testing

@Suite("Decoding in a process of its own")
struct DecodingTests {
  @Test(
    "H.264 is decoded as ffmpeg decodes it",
    arguments: [
      ["-c:v", "libx264", "-profile:v", "baseline", "-g", "10"],
      ["-c:v", "libx264", "-profile:v", "main", "-bf", "0", "-g", "10"],
      ["-c:v", "libx264", "-profile:v", "high", "-bf", "0"],
      ["-c:v", "libx264", "-profile:v", "high444", "-pix_fmt", "yuv444p", "-bf", "0"],
      ["-c:v", "libx264", "-profile:v", "high10", "-pix_fmt", "yuv420p10le", "-bf", "0"],
      ["-c:v", "libx264", "-profile:v", "high422", "-pix_fmt", "yuv422p10le", "-bf", "0"],
    ])
  func pixels(arguments: [String]) throws {
    try expectSamePixels(try H264Stream.make(size: "322x182", arguments))
  }

  @Test("what OpenH264 writes is decoded as ffmpeg decodes it")
  func openH264() throws {
    // Of GStreamer's openh264enc: `videotestsrc pattern=ball`, a keyframe in 10 frames, 100 kb/s.
    try expectSamePixels(
      try H264Stream.read(Bundle.module.bundleURL.appendingPathComponent("Fixtures/openh264.h264")))
  }

  @Test("frames in another order than that of decoding are returned in theirs, up to those that the decoder keeps")
  func reordered() throws {
    let stream = try H264Stream.make(
      size: "322x182", ["-c:v", "libx264", "-profile:v", "main", "-bf", "2", "-g", "15"])
    let decoder = try VideoDecoder(.h264, in: MediaWorker())
    var decoded = Data()
    for frame in stream.frames {
      _ = try decoder.decode(frame) { decoded.append(contentsOf: $0.copy.luma + $0.copy.blue + $0.copy.red) }
    }
    let kept = 2
    #expect(decoded == stream.decoded.dropLast(kept * stream.decoded.count / stream.frames.count))
  }

  private func expectSamePixels(_ stream: H264Stream) throws {
    let decoder = try VideoDecoder(.h264, in: MediaWorker())
    var decoded = Data()
    for frame in stream.frames {
      _ = try decoder.decode(frame) { view in
        let copy = view.copy
        decoded.append(contentsOf: copy.luma + copy.blue + copy.red)
      }
    }
    #expect(stream.frames.count == 30)
    #expect(decoded == stream.decoded)
  }
}
