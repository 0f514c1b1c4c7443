import Media

/// The time from the beginning of a participant's first recording to that of a further one, according to the sender
/// reports of both.
///
/// One sender's reports have one wall clock (RFC 3550, 6.4.1), so the offset does not depend on how long the encoders and
/// the network take: the frames of a shared screen are larger than a camera's, and arrive later.
struct StreamOffset: Sendable {
  private var estimator = OffsetEstimator(gain: 0.25)
  private var used: ClockReport?

  /// The offset; nil before both streams have reports of one clock.
  var value: Duration? { estimator.value }

  /// Measures the offset by the last reports. Each report of the further stream counts once.
  mutating func measure(from first: RecordingTimeline, to further: RecordingTimeline) {
    guard let start = first.reportedPosition, let end = further.reportedPosition, end.report != used,
      let elapsed = ReportPair(first: start.report, second: end.report).elapsed
    else { return }
    used = end.report
    estimator.add(start.position + elapsed - end.position)
  }
}

extension RecordingTimeline {
  /// The last sender report of audio, or else of video, and the position of its media time in the recording; nil while no
  /// report has one.
  fileprivate var reportedPosition: (report: ClockReport, position: Duration)? {
    for index in [audio, video] {
      guard let report = tracks[index].report, let shift = tracks[index].shift,
        !tracks[index].timeline.hasUnconfirmedReport, let position = tracks[index].timeline.position(of: report)
      else { continue }
      return (report, position + shift)
    }
    return nil
  }
}
