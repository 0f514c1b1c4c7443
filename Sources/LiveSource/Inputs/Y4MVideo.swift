import Codecs
import FileSource
import Media

/// The frames of a Y4M file, read when they are requested.
final class Y4MVideo: VideoInput {
  private let y4m: Y4MFile
  private let rate: VideoRate
  /// The next frame: its number, where its line begins, and where its bytes do once that is known.
  private var number: Int64 = 0
  private var line: UInt64
  private var pixels: UInt64?
  /// Where the bytes of the frame lie that `advance` went to.
  private var shown: UInt64?

  init(_ y4m: Y4MFile, rate: VideoRate) {
    self.y4m = y4m
    self.rate = rate
    line = y4m.start
  }

  func peek() throws(InputError) -> Int64? {
    if pixels == nil { pixels = try y4m.pixels(afterLineAt: line) }
    return pixels == nil ? nil : rate.time(of: number)
  }

  func advance() throws(InputError) {
    guard try peek() != nil, let pixels else { return }
    shown = pixels
    line = pixels + UInt64(y4m.videoFrameBytes)
    number += 1
    self.pixels = nil
  }

  func videoFrame() throws(InputError) -> VideoFrame {
    guard let shown else { throw .changed }
    let file = y4m.file
    let count = y4m.videoFrameBytes
    let bytes = try refusing { () throws(MediaFile.ReadError) in try file.bytes(count, from: shown) }
    guard bytes.count == count else { throw .changed }
    var videoFrame = try VideoFrame(bytes, size: y4m.header.size, layout: y4m.header.layout)
    if y4m.header.isFullRange { videoFrame.narrowRange() }
    return videoFrame
  }

  func rewind() {
    number = 0
    line = y4m.start
    pixels = nil
  }
}
