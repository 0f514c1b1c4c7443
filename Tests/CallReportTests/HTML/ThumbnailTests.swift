import CallCheck
import CallReport
import Codecs
import Media
import TestSupport
import Testing

@Suite("Thumbnails of a page")
struct ThumbnailTests {
  private func thumbnail(_ width: Int, _ height: Int, _ luma: () -> UInt8) -> Thumbnail {
    var videoFrame = VideoFrame(size: VideoSize(width: width, height: height))
    for position in videoFrame.luma.indices { videoFrame.luma[position] = luma() }
    return Thumbnail(time: 0, videoFrame: videoFrame)
  }

  @Test("are WebP files of a few bytes if they show little", arguments: [(160, 120), (2, 2), (159, 137)])
  func small(width: Int, height: Int) throws {
    let file = try #require(ThumbnailImage.bytes(of: thumbnail(width, height) { 90 }))
    #expect(file.starts(with: "RIFF".utf8) && file.dropFirst(8).starts(with: "WEBPVP8 ".utf8))
    #expect(file.count < 500)
  }

  @Test("take at most 12 kB, also if they show noise")
  func noise() throws {
    var generator = SeededGenerator(seed: 1)
    let file = try #require(ThumbnailImage.bytes(of: thumbnail(160, 120) { .random(in: 16...235, using: &generator) }))
    #expect((1_000...12_000).contains(file.count))
  }

  @Test("are missing without pixels, and for planes that do not match the size")
  func rejections() {
    var videoFrame = VideoFrame(size: VideoSize(width: 160, height: 120))
    videoFrame.red.removeLast()
    #expect(ThumbnailImage.bytes(of: Thumbnail(time: 0, videoFrame: videoFrame)) == nil)
    #expect(ThumbnailImage.bytes(of: thumbnail(1, 1) { 16 }) == nil)
    var empty = thumbnail(160, 120) { 16 }
    empty.videoFrame = nil
    #expect(ThumbnailImage.bytes(of: empty) == nil)
  }
}
