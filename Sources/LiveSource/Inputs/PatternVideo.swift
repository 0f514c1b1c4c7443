import Codecs
import FileSource
import Media
import Pattern

/// The test pattern: each frame that is sent has a number and shows the sender's time at which it is due.
///
/// Frames skipped to keep a bitrate, or because the machine is late, use no number: a receiver that misses a number
/// knows that the frame was lost on the network.
final class PatternVideo: VideoInput {
  private let painter: PatternPainter
  private let rate: VideoRate
  private let clock: CameraClock
  private var position: Int64 = 0
  private var number: UInt32 = 0

  static let usualRate = VideoRate(frames: 30)
  static let usualSize = VideoSize(width: 640, height: 480)

  init(size: VideoSize, rate: VideoRate, clock: CameraClock) {
    painter = PatternPainter(size: size)
    self.rate = rate
    self.clock = clock
  }

  func peek() -> Int64? { rate.time(of: position) }
  func advance() { position += 1 }
  func rewind() { position = 0 }
  func videoFrameWasSent() { number &+= 1 }

  func videoFrame() -> VideoFrame {
    painter.videoFrame(frame: number, time: clock.unixMilliseconds(at: rate.time(of: max(0, position - 1))))
  }

  static func check(size: VideoSize?, rate: VideoRate?) throws(InputError) -> CheckedVideo {
    guard let rate = rate ?? usualRate else { throw .changed }
    let size = size ?? usualSize
    return CheckedVideo(
      summary: "test pattern \(size), \(rate) frames a second", size: size, interval: rate.interval,
      extent: .endless, isReadByPrograms: true, open: { clock in PatternVideo(size: size, rate: rate, clock: clock) })
  }
}

/// The test pattern's audio, on the same clock as its frames.
final class PatternAudioInput: AudioInput {
  private let pattern: PatternAudio
  private let clock: CameraClock
  private var position: Int64 = 0

  static let channels = 1

  init(clock: CameraClock) {
    pattern = PatternAudio(channels: Self.channels)
    self.clock = clock
  }

  func read(_ count: Int) -> AudioSamples {
    defer { position += Int64(count) }
    return pattern.audio(from: clock.unixTicks(at: position), count: count)
  }

  func rewind() { position = 0 }

  static func check() -> CheckedAudio {
    CheckedAudio(
      summary: "an audio mark each second", channels: channels, extent: .endless,
      open: { clock in PatternAudioInput(clock: clock) }
    )
  }
}
