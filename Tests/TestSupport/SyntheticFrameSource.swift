package import Media
package import NIOCore

/// Synthetic media in real time: returns each frame when it is due, and keeps a copy.
package struct SyntheticFrameSource {
  private var media: SyntheticMedia
  private var videoFrame: EncodedFrame
  private var audio: EncodedFrame
  private let kinds: Set<MediaKind>
  package private(set) var sent: [EncodedFrame] = []

  package init(
    seed: UInt64, start: MonotonicInstant, shape: SyntheticMedia.Shape = .usual,
    kinds: Set<MediaKind> = [.audio, .video]
  ) {
    media = SyntheticMedia(seed: seed, start: start, shape: shape)
    videoFrame = media.videoFrame()
    audio = media.audio()
    self.kinds = kinds
  }

  /// The time at which the next frame is due, or nil if there is none.
  package var deadline: MonotonicInstant? {
    switch (kinds.contains(.video), kinds.contains(.audio)) {
    case (true, true): min(videoFrame.arrived, audio.arrived)
    case (true, false): videoFrame.arrived
    case (false, true): audio.arrived
    case (false, false): nil
    }
  }

  /// Returns the next frame if one is due.
  package mutating func next(now: MonotonicInstant) -> EncodedFrame? {
    guard let deadline, deadline <= now else { return nil }
    let frame: EncodedFrame
    if kinds.contains(.video), videoFrame.arrived == deadline {
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

extension [EncodedFrame] {
  /// Returns the payloads of the frames of one codec.
  package func payloads(_ codec: Codec) -> [ByteBuffer] {
    filter { $0.codec == codec }.map(\.payload)
  }
}
