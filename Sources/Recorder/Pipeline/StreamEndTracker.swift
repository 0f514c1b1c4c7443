import Media

/// Attributes the gaps between the end of a further stream and its next frames to that end: the participant's description had no
/// track of it meanwhile, and has one again, or frames arrive without that.
struct StreamEndTracker: Sendable {
  /// For how long frames still arrive that were sent before the description that ends the stream.
  private static let maximumTimeInFlight = Duration.seconds(1)

  private var ended: MonotonicInstant?
  private var isDescribed = true
  /// The kinds of which a frame has arrived, and those of which none has since the end.
  private var known: Set<MediaKind> = []
  private var paused: Set<MediaKind> = []

  /// Records what the description says. The first stream does not end: without tracks, it is on hold.
  mutating func described(_ stream: MediaStream, now: MonotonicInstant) {
    guard stream.number > 1 else { return }
    if stream.tracks.isEmpty, isDescribed {
      ended = now
      paused = known
    }
    isDescribed = !stream.tracks.isEmpty
  }

  /// Returns the gap that the manifest lists before a frame: its own, with the end of the stream as the reason if that is what
  /// lies between the frame and the one before.
  mutating func gap(before frame: EncodedFrame) -> MediaGap? {
    known.insert(frame.codec.kind)
    guard let ended, paused.contains(frame.codec.kind),
      frame.arrived > ended + (isDescribed ? .zero : Self.maximumTimeInFlight)
    else { return frame.gap }
    paused.remove(frame.codec.kind)
    // What the recorder itself dropped is not missing because of the sender.
    if let gap = frame.gap, gap.reason.isOfRecorder { return gap }
    return MediaGap(
      .streamEnded, packetsLost: frame.gap?.packetsLost ?? 0, framesDropped: frame.gap?.framesDropped ?? 0)
  }
}
