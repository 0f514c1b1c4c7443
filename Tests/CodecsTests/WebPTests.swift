import Codecs
import Foundation
import Media
import NIOCore
import TestSupport
import Testing

@Suite("WebP")
struct WebPTests {
  /// A frame with the left half in one colour and the right half in another one.
  private func videoFrame(_ size: VideoSize) -> VideoFrame {
    var videoFrame = VideoFrame(size: size)
    for y in 0..<size.height {
      for x in 0..<size.width { videoFrame.luma[y * size.width + x] = x < size.width / 2 ? 81 : 145 }
    }
    let stride = videoFrame.colourStride
    for y in 0..<(size.height + 1) / 2 {
      for x in 0..<stride {
        // Red and green in ITU-R BT.601, limited range.
        videoFrame.blue[y * stride + x] = x < stride / 2 ? 90 : 54
        videoFrame.red[y * stride + x] = x < stride / 2 ? 240 : 34
      }
    }
    return videoFrame
  }

  @Test("the container has the lengths that the format requires", arguments: [(64, 48), (161, 91), (2, 2), (3, 5)])
  func container(width: Int, height: Int) throws {
    let frame = videoFrame(VideoSize(width: width, height: height))
    for quantizer in [2, 24, 63] {
      let file = try WebPImage.bytes(of: frame, quantizer: quantizer)
      func number(_ at: Int) -> Int { (0..<4).reduce(0) { $0 | Int(file[at + $1]) << (8 * $1) } }
      #expect(file.starts(with: "RIFF".utf8) && file[8..<16].elementsEqual("WEBPVP8 ".utf8))
      #expect(number(4) == file.count - 8 && file.count.isMultiple(of: 2))
      #expect(number(16) + number(16) % 2 == file.count - 20)
      let keyframe = ByteBuffer(bytes: file[20..<20 + number(16)])
      let size = try VP8Decoder.keyframeSize(of: keyframe)
      #expect(size == frame.size)
    }
  }

  @Test("ffmpeg reads the size and the colours", arguments: [(160, 120), (161, 91), (33, 200), (2, 2)])
  func read(width: Int, height: Int) throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).webp")
    let pixels = file.appendingPathExtension("rgb")
    defer {
      try? FileManager.default.removeItem(at: file)
      try? FileManager.default.removeItem(at: pixels)
    }
    let frame = videoFrame(VideoSize(width: width, height: height))
    try Data(WebPImage.bytes(of: frame)).write(to: file)
    let probe = try ExternalTool.run(
      "ffprobe",
      [
        "-v", "error", "-show_entries", "stream=codec_name,width,height", "-of", "csv=p=0", "-f", "webp_pipe",
        file.path,
      ])
    #expect(probe.output == "webp,\(width),\(height)\n" && probe.errors == "", "\(probe.errors)")
    let result = try ExternalTool.run(
      "ffmpeg", ["-v", "error", "-f", "webp_pipe", "-i", file.path, "-f", "rawvideo", "-pix_fmt", "rgb24", pixels.path])
    try #require(result.status == 0, "\(result.errors)")
    let rgb = [UInt8](try Data(contentsOf: pixels))
    try #require(rgb.count == 3 * width * height)
    func isNear(_ x: Int, _ colour: [Int]) -> Bool {
      let start = 3 * (height / 2 * width + x)
      return zip(rgb[start..<start + 3], colour).allSatisfy { abs(Int($0) - $1) <= 24 }
    }
    // Two columns share their colours in a frame of two pixels.
    if width > 2 {
      #expect(isNear(width / 5, [255, 0, 0]) && isNear(width * 4 / 5, [0, 255, 0]), "\(rgb.prefix(6))")
    }
  }

  @Test("a coarser quantizer gives a smaller file, and the same frame the same one")
  func quantizer() throws {
    var generator = SeededGenerator(seed: 3)
    var frame = VideoFrame(size: VideoSize(width: 160, height: 120))
    for index in frame.luma.indices { frame.luma[index] = .random(in: 16...235, using: &generator) }
    let sizes = try [2, 24, 44, 63].map { try WebPImage.bytes(of: frame, quantizer: $0).count }
    #expect(sizes == sizes.sorted(by: >) && sizes[3] * 2 < sizes[0], "\(sizes)")
    let (one, other) = (try WebPImage.bytes(of: frame), try WebPImage.bytes(of: frame))
    #expect(one == other)
  }

  @Test("a frame that the encoder refuses is an error")
  func refused() {
    #expect(throws: CodecError.self) { try WebPImage.bytes(of: VideoFrame(size: VideoSize(width: 1, height: 9))) }
    var frame = VideoFrame(size: VideoSize(width: 16, height: 16))
    frame.blue = []
    let damaged = frame
    #expect(throws: CodecError.self) { try WebPImage.bytes(of: damaged) }
  }
}
