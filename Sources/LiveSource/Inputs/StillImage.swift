import CPNG
import Codecs
import FileSource
import Media

/// A frame that stops, given again and again.
final class StillImage: VideoInput {
  private let image: VideoFrame
  private let rate: VideoRate
  private var number: Int64 = 0

  init(_ image: VideoFrame, rate: VideoRate) {
    self.image = image
    self.rate = rate
  }

  func peek() -> Int64? { rate.time(of: number) }
  func advance() { number += 1 }
  func videoFrame() -> VideoFrame { image }
  func rewind() { number = 0 }

  /// Five a second unless asked otherwise: far below what counts as a freeze, and nearly nothing to encode. A keyframe
  /// that is requested does not wait for the next.
  static let usualRate = VideoRate(videoFrames: 5)

  /// Reads a PNG file.
  static func check(_ file: OpenFile, rate: VideoRate?) throws(InputError) -> CheckedVideo {
    guard let rate = rate ?? usualRate else { throw .changed }
    let image = try PNGFile.videoFrame(file)
    return CheckedVideo(
      summary: "PNG \(image.size)", size: image.size, interval: rate.interval, extent: .endless,
      open: { _ in StillImage(image, rate: rate) })
  }
}
