/// What a participant's media brings, in the order in which it is to be handled.
public enum MediaEvent: Sendable, Hashable {
  /// A frame, in decoding order within its track.
  case frame(EncodedFrame)
  /// The sender's clock at a media time.
  case clock(ClockReport)
  /// A packet of the track is missing and is waited for: the next frame comes late, by 3 s at most. Whoever writes both tracks
  /// in order of time waits for that frame.
  case recovering(MediaKind)
  /// The counts of one track so far; about once a second and once at the end.
  case statistics(MediaKind, TrackStatistics)
}
