package import Media

/// Attributes the gaps between the end of a further stream and its next frames to that end: the participant's description had no
/// track of it meanwhile.
package struct StreamEndTracker: Sendable {
  /// A track without frames for less than this was not away: frames that were sent before the description still arrive, and a
  /// renegotiation can leave a stream out for a moment.
  private static let minimumPause = Duration.seconds(1)

  private var isDescribed = true
  /// When the last description without the stream came.
  private var ended: MonotonicInstant?
  /// When the last frame of each kind arrived.
  private var lastArrival = PerMediaKind<MonotonicInstant>()
  /// The kinds of which a frame had arrived when the stream ended, and none that continues it since.
  private var paused = PerMediaKind<Bool>()

  package init() {}

  /// Records what the description says. The first stream does not end: without tracks, it is on hold.
  package mutating func described(_ stream: MediaStream, now: MonotonicInstant) {
    guard stream.number > 1 else { return }
    if stream.tracks.isEmpty, isDescribed {
      paused.audio = lastArrival.audio != nil
      paused.video = lastArrival.video != nil
      ended = now
    }
    isDescribed = !stream.tracks.isEmpty
  }

  /// Returns the gap that the manifest lists before a frame that is recorded: its own, with the end of the stream as the reason
  /// if that is what lies between the frame and the one before.
  package mutating func gap(before frame: EncodedFrame) -> MediaGap? {
    let kind = frame.codec.kind
    let before = lastArrival[kind]
    lastArrival[kind] = frame.arrived
    guard paused[kind] == true, let before, let ended else { return frame.gap }
    if isDescribed { paused[kind] = false }
    guard frame.arrived - max(before, ended) > Self.minimumPause else { return frame.gap }
    // What the recorder itself dropped is not missing because of the sender.
    if let gap = frame.gap, gap.reason.isOfRecorder { return gap }
    return MediaGap(
      .streamEnded, packetsLost: frame.gap?.packetsLost ?? 0, framesDropped: frame.gap?.framesDropped ?? 0)
  }
}
