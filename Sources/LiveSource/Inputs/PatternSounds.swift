import Codecs
import FileSource
import Media
import Pattern

/// The test pattern's sound, on the same clock as its pictures.
final class PatternSounds: SoundInput {
  private let pattern: PatternSound
  private let clock: CameraClock
  private var position: Int64 = 0

  static let channels = 1

  init(clock: CameraClock) {
    pattern = PatternSound(channels: Self.channels)
    self.clock = clock
  }

  func read(_ count: Int) -> Sound {
    defer { position += Int64(count) }
    return pattern.sound(from: clock.unixTicks(at: position), count: count)
  }

  func rewind() { position = 0 }

  static func check() -> CheckedSound {
    CheckedSound(
      summary: "marks each second", channels: channels, extent: .endless, open: { clock in PatternSounds(clock: clock) }
    )
  }
}
