import Codecs
import FileSource
import Media
import TestSupport
import Testing

@testable import LiveSource

@Suite("Frames of files, compared with ffmpeg")
struct VideoInputTests {
  let scratch: Scratch

  init() throws {
    scratch = try Scratch()
  }

  func videoFrames(_ path: String) throws -> CheckedVideo {
    try #require(try InputFile.check(path, rate: nil).video)
  }

  @Test(
    "a 4:2:0 Y4M file is read byte for byte, each frame with its time", arguments: ["left", "topleft", "center"])
  func y4m420(_ location: String) throws {
    let path = try scratch.make(
      "a.y4m", "-f", "lavfi", "-i", "testsrc2=s=66x50:r=30000/1001:d=0.2", "-pix_fmt", "yuv420p",
      "-chroma_sample_location", location, "-strict", "-1")
    let checked = try videoFrames(path)
    let all = try checked.all()
    #expect(checked.size == VideoSize(width: 66, height: 50))
    let timesAreExact = all.map(\.time) == (0..<Int64(all.count)).map { $0 * 24_024 }
    #expect(timesAreExact)
    let wanted = try scratch.judge(path, "-f", "rawvideo", "-pix_fmt", "yuv420p")
    let isEqual = all.flatMap(\.videoFrame.bytes) == wanted
    #expect(isEqual)
  }

  @Test("a full-range Y4M file is converted to limited range")
  func fullRange() throws {
    let path = try scratch.make(
      "a.y4m", "-f", "lavfi", "-i", "testsrc2=s=66x50:r=25:d=0.04", "-pix_fmt", "yuvj420p", "-strict", "-1")
    let wanted = try scratch.judge(
      path, "-vf", "scale=in_range=full:out_range=limited", "-f", "rawvideo", "-pix_fmt", "yuv420p")
    let mine = try videoFrames(path).all().flatMap(\.videoFrame.bytes)
    let furthest = zip(mine, wanted).map { abs(Int($0) - Int($1)) }.max() ?? 255
    #expect(furthest <= 1 && mine.count == wanted.count)
  }

  @Test("a Y4M file with other chroma formats is converted to 4:2:0", arguments: ["yuv422p", "yuv444p", "gray"])
  func y4mOthers(_ format: String) throws {
    let path = try scratch.make(
      "a.y4m", "-f", "lavfi", "-i", "testsrc=s=67x51:r=25:d=0.12,gblur=4", "-pix_fmt", format, "-strict", "-1")
    let all = try videoFrames(path).all()
    try #require(all.count == 3)
    let wanted = try scratch.judge(
      path, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-vf",
      format == "gray" ? "scale=in_range=full:out_range=limited" : "scale=sws_flags=area")
    let likeness = peakSignalToNoise(all.flatMap(\.videoFrame.bytes), wanted)
    // Programs differ in how they halve chroma, and in how they convert the full range that ffmpeg uses for grey.
    #expect(likeness >= 38, "measured: \(likeness) dB")
  }

  @Test(
    "VP8 and VP9 in WebM and IVF are decoded byte for byte",
    arguments: [("a.webm", "libvpx"), ("a.ivf", "libvpx"), ("a.webm", "libvpx-vp9"), ("a.ivf", "libvpx-vp9")])
  func stored(_ name: String, _ codec: String) throws {
    let path = try scratch.make(
      name, "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=1", "-c:v", codec, "-b:v", "300k", "-auto-alt-ref", "1",
      "-lag-in-frames", "10")
    let all = try videoFrames(path).all()
    let wanted = try scratch.judge(path, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-fps_mode", "passthrough")
    let shown = all.flatMap(\.videoFrame.bytes)
    let isEqual = shown == wanted
    #expect(isEqual, "\(all.count) frames, ffmpeg \(wanted.count / 28_800)")
    let timesGrow = zip(all, all.dropFirst()).allSatisfy { $1.time > $0.time }
    #expect(timesGrow)
  }

  @Test(
    "PNG images of every pixel format are read",
    arguments: ["rgb24", "rgba", "pal8", "gray", "ya8", "rgb48be", "rgba64be", "gray16be", "monob"])
  func png(_ format: String) throws {
    let path = try scratch.make(
      "a.png", "-f", "lavfi", "-i", "testsrc=s=66x50:r=1:d=1", "-frames:v", "1", "-pix_fmt", format)
    let checked = try videoFrames(path)
    #expect(checked.extent == .endless && checked.size == VideoSize(width: 66, height: 50))
    let mine = try #require(try checked.all(limit: 1).first).videoFrame.bytes
    let wanted = try scratch.judge(path, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-vf", "format=rgb24")
    let furthest = zip(mine, wanted).map { abs(Int($0) - Int($1)) }.max() ?? 255
    // 16 bits are rounded to 8 or to the planes' values.
    let isEqual = mine.count == wanted.count && furthest <= 2
    #expect(isEqual, "furthest apart: \(furthest)")
  }

  @Test("transparent parts of a PNG image are composited over black")
  func alpha() throws {
    let path = try scratch.make(
      "a.png", "-f", "lavfi", "-i", "color=white@0.5:s=32x32,format=rgba", "-frames:v", "1")
    let videoFrame = try #require(try videoFrames(path).all(limit: 1).first).videoFrame
    let middle = Int(videoFrame.luma[16 * 32 + 16])
    #expect(abs(middle - 126) <= 2)
  }

  @Test("an odd row and column are cropped, and the rest of the frame is unchanged")
  func odd() throws {
    var videoFrame = VideoFrame(size: VideoSize(width: 67, height: 51))
    for index in videoFrame.luma.indices { videoFrame.luma[index] = UInt8(index % 67) }
    for index in videoFrame.blue.indices { videoFrame.blue[index] = UInt8(index % 34) }
    let fit = VideoScaling(videoFrame.size, wanted: nil)
    let even = try fit.fit(videoFrame)
    #expect(even.size == VideoSize(width: 66, height: 50))
    let lumaIsKept = even.luma == (0..<50).flatMap { _ in (0..<66).map { UInt8($0) } }
    let blueIsKept = even.blue == (0..<25).flatMap { _ in (0..<33).map { UInt8($0) } }
    #expect(lumaIsKept && blueIsKept)
    #expect(fit.note == "Its frames of 67x51 are shown as 66x50: sides are even.")
  }

  @Test("frames larger than a camera's are scaled down with their aspect ratio kept")
  func large() {
    func target(_ width: Int, _ height: Int) -> String {
      VideoScaling(VideoSize(width: width, height: height), wanted: nil).target.description
    }
    #expect(target(1_920, 1_080) == "1920x1080")
    #expect(target(3_840, 2_160) == "1920x1080")
    #expect(target(2_160, 3_840) == "1080x1920")
    #expect(target(4_000, 3_000) == "1440x1080")
    #expect(target(4_096, 16) == "1920x16")
  }
}
