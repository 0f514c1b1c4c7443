import CPNG
import Codecs
import FileSource
import Media

/// A picture that stands still, given again and again.
final class StillPicture: PictureInput {
  private let image: Picture
  private let rate: PictureRate
  private var number: Int64 = 0

  init(_ image: Picture, rate: PictureRate) {
    self.image = image
    self.rate = rate
  }

  func peek() -> Int64? { rate.time(of: number) }
  func advance() { number += 1 }
  func picture() -> Picture { image }
  func rewind() { number = 0 }

  /// Five a second unless asked otherwise: far below what counts as a freeze, and nearly nothing to encode. A keyframe
  /// that is asked for does not wait for the next.
  static let usualRate = PictureRate(pictures: 5)

  /// Reads a PNG file.
  static func check(_ file: OpenFile, rate: PictureRate?) throws(InputRefusal) -> CheckedPictures {
    guard let rate = rate ?? usualRate else { throw .changed }
    let image = try PNGFile.picture(file)
    return CheckedPictures(
      summary: "PNG \(image.size)", size: image.size, interval: rate.interval, extent: .endless,
      open: { _ in StillPicture(image, rate: rate) })
  }
}
