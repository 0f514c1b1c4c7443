import Media

/// What is known of when a frame was sent, each as the time at which it would have arrived if it had been as fast as the fastest ones.
struct FrameMoment: Sendable {
  /// When it arrived.
  var arrival: MonotonicInstant
  /// By its track alone.
  var own: MonotonicInstant
  /// By its position on the recording's time line.
  var placed: MonotonicInstant
}

/// Frames that are not recorded because of a pause: the clocks of their tracks are followed, so that the positions after the pause
/// are as exact as before.
extension RecordingTimeline {
  /// How much earlier the recording's time line may place a frame than its own track does.
  private static let maximumDisagreement = Duration.milliseconds(300)

  /// Follows a track by a frame that is not recorded.
  mutating func leaveOut(_ frame: EncodedFrame, length: Duration?, now: MonotonicInstant) {
    let kind = frame.codec.kind
    let hadUnconfirmedReport = tracks[index(of: kind)].timeline.hasUnconfirmedReport
    let other = lateness(besides: kind)
    _ = tracks[index(of: kind)].timeline.offset(entry(of: frame, length: length), other: other)
    tracks[index(of: kind)].framesSinceLeftOut = 0
    moveAfterStandstill(kind, newFrames: 0)
    noteUndecided(kind, other: other, now: now)
    if tracks[index(of: kind)].recoveringSince != nil { tracks[index(of: kind)].recoveredAt = now }
    tracks[index(of: kind)].recoveringSince = nil
    refineOrigin(by: kind, now: now)
    if hadUnconfirmedReport, !tracks[index(of: kind)].timeline.hasUnconfirmedReport { useReports() }
    if kind == .video { correctByArrivals() }
  }

  /// Returns when a frame would have arrived if it had been as fast as the fastest ones. Nothing changes.
  func moment(of frame: EncodedFrame, length: Duration?) -> FrameMoment {
    let kind = frame.codec.kind
    var timeline = tracks[index(of: kind)].timeline
    let isFirst = !timeline.hasStarted
    let position = timeline.offset(entry(of: frame, length: length), other: lateness(besides: kind))
    guard !isFirst, let typical = timeline.delays.typical else {
      return FrameMoment(arrival: frame.arrived, own: frame.arrived, placed: frame.arrived)
    }
    let own = typical + position
    var placed = own
    if let shift = tracks[index(of: kind)].shift, let zero {
      placed = max(zero + position + shift, own - Self.maximumDisagreement)
    }
    return FrameMoment(arrival: frame.arrived, own: own, placed: placed)
  }

  /// The estimated arrival of position zero, according to the fastest frames of the last half minute; nil until the first frames have
  /// positions. It follows the drift of the sender's clock.
  var zero: MonotonicInstant? {
    [audio, video].compactMap { index in
      guard let shift = tracks[index].shift, let typical = tracks[index].timeline.delays.typical else { return nil }
      return typical - shift
    }.min()
  }
}
