import Codecs
import FileSource
import Media
import Pattern

/// The test pattern: each picture is numbered and tells the sender's time at which it is to be shown.
final class PatternPictures: PictureInput {
  private let painter: PatternPainter
  private let rate: PictureRate
  private let clock: CameraClock
  private var number: Int64 = 0

  static let usualRate = PictureRate(pictures: 30)
  static let usualSize = PictureSize(width: 640, height: 480)

  init(size: PictureSize, rate: PictureRate, clock: CameraClock) {
    painter = PatternPainter(size: size)
    self.rate = rate
    self.clock = clock
  }

  func peek() -> Int64? { rate.time(of: number) }
  func advance() { number += 1 }
  func rewind() { number = 0 }

  func picture() -> Picture {
    let shown = max(0, number - 1)
    return painter.picture(
      frame: UInt32(truncatingIfNeeded: shown), time: clock.unixMilliseconds(at: rate.time(of: shown)))
  }

  static func check(size: PictureSize?, rate: PictureRate?) throws(InputRefusal) -> CheckedPictures {
    guard let rate = rate ?? usualRate else { throw .changed }
    let size = size ?? usualSize
    return CheckedPictures(
      summary: "test pattern \(size), \(rate) pictures a second", size: size, interval: rate.interval,
      extent: .endless, open: { clock in PatternPictures(size: size, rate: rate, clock: clock) })
  }
}
