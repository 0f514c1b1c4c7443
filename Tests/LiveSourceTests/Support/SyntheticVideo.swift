import Codecs
import LiveSource
import Media

/// Synthetic frames whose brightness is their number.
final class SyntheticVideo: VideoInput {
  let times: [Int64]
  private var next = 0
  private var shown = 0
  private(set) var painted = 0
  private(set) var rounds = 1
  static let size = VideoSize(width: 16, height: 16)

  init(times: [Int64]) {
    self.times = times
  }

  /// Creates evenly spaced frames.
  convenience init(_ count: Int, interval: Int64) {
    self.init(times: (0..<Int64(count)).map { $0 * interval })
  }

  func peek() -> Int64? { next < times.count ? times[next] : nil }

  func advance() {
    shown = next
    next += 1
  }

  func videoFrame() -> VideoFrame {
    painted += 1
    return VideoFrame(size: Self.size, luma: UInt8(shown % 200))
  }

  func rewind() {
    next = 0
    rounds += 1
  }
}

/// Synthetic audio whose samples are their numbers since the round's start.
final class SyntheticAudio: AudioInput {
  let length: Int
  private var position = 0

  init(_ length: Int) {
    self.length = length
  }

  func read(_ count: Int) -> AudioSamples {
    let end = min(length, position + count)
    defer { position = end }
    return AudioSamples(samples: (position..<end).map { Float($0 + 1) }, channels: 1)
  }

  func rewind() { position = 0 }
}
