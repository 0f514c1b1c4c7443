/// A sender's word on what its wall clock read at a media time: the useful half of an RTCP sender report
/// (RFC 3550, 6.4.1). Two tracks of one sender are aligned by theirs.
public struct ClockReport: Sendable, Hashable {
  public var owner: ParticipantID
  public var codec: Codec
  /// The media time, on the same unwrapped time line as the track's frames.
  public var time: MediaTime
  /// The sender's wall clock at that time: seconds since 1900 in 32.32 fixed point (RFC 3550, 4).
  public var ntp: UInt64
  /// When the report arrived.
  public var arrival: ContinuousClock.Instant {
    get { arrived.instant }
    set { arrived = MonotonicInstant(newValue) }
  }
  /// What ``arrival`` says.
  package var arrived: MonotonicInstant

  public init(
    owner: ParticipantID, codec: Codec, time: MediaTime, ntp: UInt64, arrival: ContinuousClock.Instant
  ) {
    self.owner = owner
    self.codec = codec
    self.time = time
    self.ntp = ntp
    arrived = MonotonicInstant(arrival)
  }
}
