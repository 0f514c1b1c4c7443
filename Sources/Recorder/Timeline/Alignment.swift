/// How the tracks of a recording were brought into step, and how well.
struct Alignment: Sendable, Hashable {
  /// What told how audio and video belong together.
  enum Source: String, Sendable, Hashable {
    /// There is only one track so far.
    case single
    /// RTCP sender reports of both tracks.
    case senderReports
    /// When the frames came in, because reports were missing.
    case arrivals
  }

  var source = Source.single
  /// How far apart audio and video can have been anywhere in the recording, as far as was measured: the largest difference
  /// between the offset in use and the one that the sender reports told, or the spread of delays while only arrivals told.
  var error = Duration.zero
  /// What later sender reports changed in all, for example to follow a clock that drifts.
  var correction = Duration.zero
  /// Sender reports used.
  var reports = 0
}
