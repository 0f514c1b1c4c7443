import Media
import NIOCore

/// Made-up media in real time: gives each frame when it is due, and keeps what it gave.
struct MadeUpSource {
  private var media: MadeUpMedia
  private var picture: EncodedFrame
  private var sound: EncodedFrame
  private let kinds: Set<MediaKind>
  private(set) var sent: [EncodedFrame] = []

  init(
    seed: UInt64, start: ContinuousClock.Instant, shape: MadeUpMedia.Shape = .usual,
    kinds: Set<MediaKind> = [.audio, .video]
  ) {
    media = MadeUpMedia(seed: seed, start: start, shape: shape)
    picture = media.picture()
    sound = media.sound()
    self.kinds = kinds
  }

  /// When the next frame is due; nil when there is never one.
  var deadline: ContinuousClock.Instant? {
    switch (kinds.contains(.video), kinds.contains(.audio)) {
    case (true, true): min(picture.arrival, sound.arrival)
    case (true, false): picture.arrival
    case (false, true): sound.arrival
    case (false, false): nil
    }
  }

  /// The next frame, if one is due.
  mutating func next(now: ContinuousClock.Instant) -> EncodedFrame? {
    guard let deadline, deadline <= now else { return nil }
    let frame: EncodedFrame
    if kinds.contains(.video), picture.arrival == deadline {
      frame = picture
      picture = media.picture()
    } else {
      frame = sound
      sound = media.sound()
    }
    sent.append(frame)
    return frame
  }
}
