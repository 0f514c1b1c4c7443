import Codecs
import FileSource
import Media
import Pattern

/// The test pattern: each picture that is sent is numbered, and tells the sender's time at which it is to be shown.
///
/// What is left out, to hold a bitrate or because the machine is late, takes no number: whoever misses one knows that it was
/// lost on its way.
final class PatternPictures: PictureInput {
  private let painter: PatternPainter
  private let rate: PictureRate
  private let clock: CameraClock
  private var place: Int64 = 0
  private var number: UInt32 = 0

  static let usualRate = PictureRate(pictures: 30)
  static let usualSize = PictureSize(width: 640, height: 480)

  init(size: PictureSize, rate: PictureRate, clock: CameraClock) {
    painter = PatternPainter(size: size)
    self.rate = rate
    self.clock = clock
  }

  func peek() -> Int64? { rate.time(of: place) }
  func advance() { place += 1 }
  func rewind() { place = 0 }
  func pictureWasSent() { number &+= 1 }

  func picture() -> Picture {
    painter.picture(frame: number, time: clock.unixMilliseconds(at: rate.time(of: max(0, place - 1))))
  }

  static func check(size: PictureSize?, rate: PictureRate?) throws(InputRefusal) -> CheckedPictures {
    guard let rate = rate ?? usualRate else { throw .changed }
    let size = size ?? usualSize
    return CheckedPictures(
      summary: "test pattern \(size), \(rate) pictures a second", size: size, interval: rate.interval,
      extent: .endless, open: { clock in PatternPictures(size: size, rate: rate, clock: clock) })
  }
}
