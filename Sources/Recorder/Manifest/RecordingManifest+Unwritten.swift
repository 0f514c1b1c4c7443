import Media

extension RecordingManifest.Track {
  /// How far from each other two times may be that were rounded to milliseconds and are the same.
  static let rounding = 0.002

  /// Where its last frame ends, in seconds from the recording's start.
  public var end: Double { ((start + duration) * 1_000).rounded() / 1_000 }

  /// Of the gap behind its last frame that came because the disk took no more, or this machine had no time: its place among the
  /// gaps.
  var unwrittenGap: Int? {
    let reasons = [MediaGap.Reason.diskStalled, .overloaded].map(\.rawValue)
    return gaps.lastIndex { reasons.contains($0.reason) && $0.start >= end - Self.rounding && $0.duration > 0 }
  }

  /// Seconds at its end that came and are in no file, because the disk did not take them or this machine had no time; 0 when all is
  /// there.
  public var unwritten: Double { unwrittenGap.map { gaps[$0].duration } ?? 0 }
}
