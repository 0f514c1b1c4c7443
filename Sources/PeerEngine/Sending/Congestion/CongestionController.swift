import Media
import RTP

/// How much the line to one participant takes (draft-ietf-rmcat-gcc-02, sender side).
///
/// With transport-wide feedback the delay of packets tells, and loss bounds what it says; a probe now and then shows
/// whether there is room for more. Without it the receiver's word (REMB) and its reports of loss have to do.
///
/// Skipped on purpose: congestion control by the receiver (draft-ietf-rmcat-gcc-02, 3), ECN, and pushing back what was
/// sent over several transports.
package struct CongestionController: Sendable {
  package struct Configuration: Sendable, Hashable {
    /// Bits a second: the target never leaves these limits.
    package var minimumBitrate: Double = 50_000
    package var maximumBitrate: Double = 2_500_000
    /// What is trusted of a line of which nothing is known.
    package var startBitrate: Double = 600_000
    /// The same for a source that cannot wait: a recorded one begins with all frames since the last keyframe.
    package static let startBitrateOfRecording: Double = 1_600_000

    /// Whether the source follows what it is told. One that does not is let through until the line is seen not to carry it;
    /// then it is paced so that what is too much waits here, where whole frames can be skipped.
    package var sourceFollows = true

    package init() {}
  }

  /// What to tell the source.
  package struct Target: Sendable, Hashable {
    /// Bits a second for all tracks together, RTP headers included.
    package var bitrate: Int
    /// The share of packets that is lost, 0 to 1.
    package var fractionLost: Double
  }

  /// By what the line is judged.
  enum Judgement: Sendable {
    case delay
    case reports
  }

  /// How much a target has to change to be told, and how often it may be.
  static let notableChange = 0.05
  static let shortestInterval: Duration = .milliseconds(100)
  /// Packets may wait so long to leave before the source is told to give less: a keyframe needs its time.
  static let harmlessBacklog: Duration = .milliseconds(250)
  /// In how long what is beyond should be gone.
  static let drainTime = 0.4
  /// How many times faster than the line's rate packets leave: the frames of a live source are not all of one size.
  static let headroom = 2.5
  /// The same on a path that is known to be narrow: what leaves faster queues there, and audio would wait behind frames.
  static let narrowHeadroom = 1.6
  /// The least bits a second at which packets leave as long as the line is not known to be narrow, and when all that came
  /// before went through it at once.
  static let unlimitedPace = 4_000_000.0
  static let widePace = 10_000_000.0
  /// Bytes that may be on their way to a line of which nothing is known: a keyframe.
  static let firstFlight = 48_000
  /// How much more than the estimate a probe has to prove. The little above it is for the slow growth to find: who has the
  /// most of a line must not win more by probing.
  static let usefulProof = 1.2
  /// How long after a probe that proved more the delay's slope says nothing: larger frames take longer by themselves.
  static let unrestAfterProof: Duration = .milliseconds(600)
  /// A round trip that is longer than the shortest by this much, where feedback tells at most that.
  static let fullQueue: Duration = .milliseconds(100)

  package let configuration: Configuration
  /// What the source may send, in bits a second, retransmissions included.
  package internal(set) var estimate: Double
  /// What goes through the line, in bits a second, however much it loses; packets are paced by this.
  package internal(set) var lineRate: Double
  /// Whether the estimate rests on feedback about each packet.
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
  var saturation = OveruseDetector()
  var firstSent: MonotonicInstant?
  var lastProof: MonotonicInstant?
  var receiverLimit: Double?
  var roundTrip: Duration = .milliseconds(100)
  var shortestRoundTrip: Duration?
  var lastFeedback: MonotonicInstant?
  var feedbackInterval: Duration = .milliseconds(100)
  var media = RateCounter(shortestWindow: .seconds(1))
  var retransmissions = RateCounter(shortestWindow: .seconds(1))
  var lossCounts: [UInt32: (highest: UInt32, lost: Int)] = [:]
  var ceiling: Double
  var reported: (target: Target, time: MonotonicInstant)?

  package init(configuration: Configuration = .init()) {
    self.configuration = configuration
    let start = min(max(configuration.startBitrate, configuration.minimumBitrate), configuration.maximumBitrate)
    estimate = start
    lineRate = start
    ceiling = configuration.maximumBitrate
    rateControl = AimdRateControl(rate: start)
    lossBound = LossBasedEstimator(rate: start)
  }

  /// Takes what was agreed to.
  package mutating func configure(transportWide: Bool) {
    judgement = transportWide ? .delay : .reports
  }
}
