import Media

/// The last sender report of an audio and of a video track: together they say how the two lines lie to each other.
struct ReportPair: Sendable {
  /// Reports whose arrivals and wall clocks differ by more than this were not written by one clock.
  private static let maximumDisagreement = Duration.seconds(1)
  /// Reports that are further apart than this tell nothing exact: a clock that runs 200 ppm fast is 12 ms on by then.
  private static let maximumDistance = Duration.seconds(60)

  var audio: ClockReport
  var video: ClockReport

  /// What is to be added to a position on the video line to have the audio line's position of the same moment at the
  /// sender; nil when the reports do not fit the lines or each other.
  func offset(audioTimeline: TrackTimeline, videoTimeline: TrackTimeline) -> Duration? {
    guard
      audio.ntp != 0, video.ntp != 0,
      let audioPosition = audioTimeline.position(of: audio), let videoPosition = videoTimeline.position(of: video)
    else { return nil }
    let atSender = Self.duration(from: audio.ntp, to: video.ntp)
    let distance = video.arrived - audio.arrived
    if distance > Self.maximumDistance || distance < .zero - Self.maximumDistance { return nil }
    let disagreement = atSender - distance
    let limit = Self.maximumDisagreement
    if disagreement > limit || disagreement < .zero - limit { return nil }
    return audioPosition + atSender - videoPosition
  }

  /// The time between two NTP timestamps, which wrap in 2036 (RFC 3550, 4).
  private static func duration(from earlier: UInt64, to later: UInt64) -> Duration {
    let difference = Int64(bitPattern: later &- earlier)
    let fraction = ((difference & 0xFFFF_FFFF) * 1_000_000_000) >> 32
    return .seconds(difference >> 32) + .nanoseconds(fraction)
  }
}
