import Codecs
import FileSource
import Media
import Pattern

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
      summary: "marks each second", channels: channels, extent: .endless,
      open: { clock in PatternAudioInput(clock: clock) }
    )
  }
}
