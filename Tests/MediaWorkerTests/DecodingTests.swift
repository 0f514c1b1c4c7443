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
    let stream = try H264Stream.make(size: "322x182", arguments)
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
