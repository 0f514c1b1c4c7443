import Media
import RTP

/// Estimates the bandwidth to one participant (draft-ietf-rmcat-gcc-02, sender side).
///
/// With transport-wide feedback, the estimate is based on the delay of packets and bounded by loss; occasional probes test
/// whether there is more bandwidth. Without it, the estimate is based on the receiver's limit (REMB) and its loss reports.
///
/// Left out on purpose: congestion control by the receiver (draft-ietf-rmcat-gcc-02, 3), ECN, and coordination of several
/// transports.
///
/// No estimate can starve the video for good: it is never lower than what audio needs, which is always sent, and a little
/// more; and a limit of the receiver ends if nothing of what it limits is sent (``ReceiverLimit``).
package struct CongestionController: Sendable {
  package struct Configuration: Sendable, Hashable {
    /// The minimum and maximum of the target, in bits a second.
    package var minimumBitrate: Double = 50_000
    package var maximumBitrate: Double = 2_500_000
    /// The initial estimate for an unknown path.
    package var startBitrate: Double = 600_000
    /// The same for a source that cannot wait: a recorded one begins with all frames since the last keyframe.
    package static let startBitrateOfRecording: Double = 1_600_000

    /// Whether the source follows the target bitrate. One that does not is sent unlimited until the path is found not to
    /// carry it; then it is paced so that the excess is queued here, where whole frames can be skipped.
    package var sourceFollows = true

    package init() {}
  }

  /// The target for the source.
  package struct Target: Sendable, Hashable {
    /// The bitrate in bits a second for all tracks together, RTP headers included.
    package var bitrate: Int
    /// The share of packets that is lost, 0 to 1.
    package var fractionLost: Double
  }

  /// What the estimate is based on.
  enum Judgement: Sendable {
    case delay
    case reports
  }

  /// The minimum change of a target that is reported, as a share of the target.
  static let notableChange = 0.05
  /// The minimum time after a report before a higher target is reported.
  static let minimumInterval: Duration = .milliseconds(100)
  /// How long packets may wait to leave before the target is lowered: a keyframe needs its time.
  static let harmlessBacklog: Duration = .milliseconds(250)
  /// The time in which an excess queue should drain, in seconds.
  static let drainTime = 0.4
  /// The factor of the pacing rate over the path's rate: the frames of a live source vary in size.
  static let headroom = 2.5
  /// The same factor on a path that is known to be narrow: packets paced faster would queue in the path, and audio would
  /// wait behind video.
  static let narrowHeadroom = 1.6
  /// The minimum pacing rate in bits a second while no limit of the path is known.
  static let unlimitedPace = 4_000_000.0
  /// The minimum pacing rate in bits a second while there is feedback and the path has never been congested.
  static let widePace = 10_000_000.0
  /// The bytes that may be in flight on an unknown path: a keyframe.
  static let initialWindow = 48_000
  /// The factor over the estimate that a probe must prove to be used. Smaller gains are left to the slow growth: the flow
  /// with the largest share of a path must not gain more by probing.
  static let minimumProbeGain = 1.2
  /// For how long after a probe that proved more the slope of the delay is ignored: larger frames take longer by
  /// themselves.
  static let postProbeHoldOff: Duration = .milliseconds(600)
  /// What remains for video at least, in bits a second, however low the estimate is: without any, nobody would learn that
  /// the path carries more.
  static let minimumVideoBitrate = 25_000.0
  /// For how long loss and a full queue that were reported speak for the receiver's limit.
  static let congestionMemory: Duration = .seconds(10)
  /// By how much a round-trip time exceeds the shortest one when the queue is full, if there are only receiver reports.
  static let fullQueue: Duration = .milliseconds(100)

  package let configuration: Configuration
  /// The bitrate that the source may send, in bits a second, retransmissions included.
  package internal(set) var estimate: Double
  /// The bitrate that passes through the path, in bits a second, regardless of loss; the base of the pacing rate.
  package internal(set) var linkCapacity: Double
  /// Whether the estimate is based on transport-wide feedback.
  package internal(set) var hasFeedback = false

  var judgement = Judgement.reports
  var log = SentPacketLog()
  var groups = InterArrivalGroups()
  var trend = TrendlineEstimator()
  var acknowledged = AcknowledgedBitrateEstimator()
  var rateControl: AimdRateControl
  var lossBound: LossBasedEstimator
  var queue = QueueDelayEstimator()
  var probe = BandwidthProbe()
  var saturation = SaturationDetector()
  var firstSent: MonotonicInstant?
  var lastSuccessfulProbe: MonotonicInstant?
  var receiverLimit = ReceiverLimit()
  /// Whether the receiver's limit counts at present.
  var isLimitedByReceiver = false
  var roundTrip: Duration = .milliseconds(100)
  var shortestRoundTrip: Duration?
  var lastFeedback: MonotonicInstant?
  var feedbackInterval: Duration = .milliseconds(100)
  var media = RateCounter(minimumWindow: .seconds(1))
  /// The part of the media that is audio.
  var audio = RateCounter(minimumWindow: .seconds(1))
  var retransmissions = RateCounter(minimumWindow: .seconds(1))
  /// The counters of each source's last report block, and the bitrate that was sent when it came.
  var lossCounts: [UInt32: (highest: UInt32, lost: Int, sent: Double)] = [:]
  var ceiling: Double
  var reported: (target: Target, time: MonotonicInstant)?

  package init(configuration: Configuration = .init()) {
    self.configuration = configuration
    let start = min(max(configuration.startBitrate, configuration.minimumBitrate), configuration.maximumBitrate)
    estimate = start
    linkCapacity = start
    ceiling = configuration.maximumBitrate
    rateControl = AimdRateControl(rate: start)
    lossBound = LossBasedEstimator(rate: start)
  }

  /// Applies the negotiated kind of feedback.
  package mutating func configure(transportWide: Bool) {
    judgement = transportWide ? .delay : .reports
  }
}
