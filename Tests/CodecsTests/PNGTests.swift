import Codecs
import Foundation
import Media
import TestSupport
import Testing

@Suite("PNG")
struct PNGTests {
  @Test(
    "ffmpeg reads the size and the colours that were written",
    arguments: [(320, 180), (2, 2), (3, 5), (161, 91), (320, 320)])
  func readBack(width: Int, height: Int) throws {
    let size = VideoSize(width: width, height: height)
    var frame = VideoFrame(size: size, luma: 81)
    // Red in ITU-R BT.601, limited range.
    frame.blue = frame.blue.map { _ in 90 }
    frame.red = frame.red.map { _ in 240 }
    let bytes = try #require(PNGImage.bytes(of: frame))
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("png-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (png, raw) = (folder.appendingPathComponent("image.png"), folder.appendingPathComponent("image.rgb"))
    try Data(bytes).write(to: png)
    let read = try ExternalTool.run(
      "ffmpeg", ["-v", "error", "-xerror", "-i", png.path, "-pix_fmt", "rgb24", "-f", "rawvideo", raw.path])
    #expect(read.status == 0 && read.errors.isEmpty, "\(read.errors)")
    let pixels = [UInt8](try Data(contentsOf: raw))
    #expect(pixels.count == 3 * width * height)
    for start in stride(from: 0, to: pixels.count, by: 3) {
      guard pixels[start] > 245, pixels[start + 1] < 10, pixels[start + 2] < 10 else {
        Issue.record("Pixel \(start / 3) is \(pixels[start..<(start + 3)]).")
        return
      }
    }
  }

  @Test("a frame whose planes are not of its size is not written")
  func brokenPlanes() {
    var frame = VideoFrame(size: VideoSize(width: 16, height: 16))
    frame.red.removeLast()
    #expect(PNGImage.bytes(of: frame) == nil)
  }
}
