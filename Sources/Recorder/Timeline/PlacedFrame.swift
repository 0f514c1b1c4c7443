import Media

/// A frame with its place on the recording's time line.
struct PlacedFrame: Sendable, Hashable {
  let frame: EncodedFrame
  /// How long after the first frame of the participant it is shown or heard.
  let position: Duration
  /// How the recorder made it; nil for one that came.
  let repair: SoundRepair.Kind?

  init(frame: EncodedFrame, position: Duration, repair: SoundRepair.Kind? = nil) {
    self.frame = frame
    self.position = position
    self.repair = repair
  }
}
