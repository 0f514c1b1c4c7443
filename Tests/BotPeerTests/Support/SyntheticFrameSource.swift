import Media
import NIOCore

/// Synthetic media in real time: returns each frame when it is due, and keeps a copy.
struct SyntheticFrameSource {
  private var media: SyntheticMedia
  private var videoFrame: EncodedFrame
  private var audio: EncodedFrame
  private let kinds: Set<MediaKind>
  private(set) var sent: [EncodedFrame] = []

  init(
    seed: UInt64, start: ContinuousClock.Instant, shape: SyntheticMedia.Shape = .usual,
    kinds: Set<MediaKind> = [.audio, .video]
  ) {
    media = SyntheticMedia(seed: seed, start: start, shape: shape)
    videoFrame = media.videoFrame()
    audio = media.audio()
    self.kinds = kinds
  }

  /// The time at which the next frame is due, or nil if there is none.
  var deadline: ContinuousClock.Instant? {
    switch (kinds.contains(.video), kinds.contains(.audio)) {
    case (true, true): min(videoFrame.arrival, audio.arrival)
    case (true, false): videoFrame.arrival
    case (false, true): audio.arrival
    case (false, false): nil
    }
  }

  /// Returns the next frame if one is due.
  mutating func next(now: ContinuousClock.Instant) -> EncodedFrame? {
    guard let deadline, deadline <= now else { return nil }
    let frame: EncodedFrame
    if kinds.contains(.video), videoFrame.arrival == deadline {
      frame = videoFrame
      videoFrame = media.videoFrame()
    } else {
      frame = audio
      audio = media.audio()
    }
    sent.append(frame)
    return frame
  }
}
