import Media

extension RecordingManifest.Track {
  /// How far from each other two times may be that were rounded to milliseconds and are the same.
  static let rounding = 0.002

  /// Where its last frame ends, in seconds from the recording's start.
  public var end: Double { ((start + duration) * 1_000).rounded() / 1_000 }

  /// Of the gap behind its last frame that came because the disk took no more: its place among the gaps.
  var unwrittenGap: Int? {
    let reason = MediaGap.Reason.diskStalled.rawValue
    return gaps.lastIndex { $0.reason == reason && $0.start >= end - Self.rounding && $0.duration > 0 }
  }

  /// Seconds at its end that came and are in no file, because the disk did not take them; 0 when all is there.
  public var unwritten: Double { unwrittenGap.map { gaps[$0].duration } ?? 0 }
}
