/// What a participant's media brings, in the order in which it is to be handled.
public enum MediaEvent: Sendable, Hashable {
  /// A frame, in decoding order within its track.
  case frame(EncodedFrame)
  /// The sender's clock at a media time.
  case clock(ClockReport)
  /// A packet of the track is missing and is waited for: the next frame comes late, by 3 s at most. Anyone who writes both tracks
  /// in order of time waits for that frame.
  case recovering(MediaKind)
  /// The counts of one track so far; about once a second and once at the end.
  case statistics(MediaKind, TrackStatistics)
}

/// Takes what participants' media brings, as it comes: a recorder, for example, or a mirror.
///
/// It is called on the thread that receives for all participants, in the order in which things are to be handled. So it returns at
/// once: it never waits for a disk, for another thread or for a decoder.
public protocol MediaSink: Sendable {
  /// Takes a frame, a sender's clock or counts.
  ///
  /// - Parameter now: when it was handed out; a frame came at its `arrival`.
  func receive(_ event: MediaEvent, of participant: ParticipantID, now: ContinuousClock.Instant)
}
