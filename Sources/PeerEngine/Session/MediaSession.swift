package import Media
package import NIOCore
package import RTP

/// All media of one remote peer, both ways: plain RTP and RTCP in, frames out; frames in, plain RTP and RTCP out.
///
/// Nothing is encrypted, sent or waited for here. What comes in is only noted; ``poll(now:wallClock:)`` gives all that
/// is to be done, and ``deadline`` says when to call it next even if nothing comes.
///
/// Skipped on purpose: forward error correction (ULPFEC, FlexFEC), RTCP APP and XR blocks other than RRTR and DLRR,
/// slice and reference frame feedback, TMMBR, the minimal compounds of RFC 4585 (feedback is sent in reduced size,
/// RFC 5506).
package struct MediaSession: Sendable {
  package struct Configuration: Sendable, Hashable {
    package var receiving = ReceiveTrack.Configuration()
    package var sending = SendTrack.Configuration()
    package var pacing = Pacer.Configuration()
    package var congestion = CongestionController.Configuration()
    /// The time between two reports, more or less: each is moved by up to a fifth (RFC 3550, 6.2).
    package var reportInterval: Duration = .seconds(1)

    package init() {
      self.init(keyframeAnswer: .replay)
    }

    /// What suits the kind of source.
    package init(keyframeAnswer: KeyframeResponse) {
      sending.keyframeAnswer = keyframeAnswer
      if keyframeAnswer == .replay {
        congestion.sourceFollows = false
        congestion.startBitrate = CongestionController.Configuration.startBitrateOfRecording
      }
    }
  }

  /// What is to be done, in this order.
  package enum Output: Sendable, Hashable {
    /// An RTP packet, to be protected and sent.
    case rtp(ByteBuffer)
    /// An RTCP packet, compound or reduced, to be protected and sent.
    case rtcp(ByteBuffer)
    /// For anyone who listens to the remote side.
    case event(MediaEvent)
    /// The remote side needs a keyframe of what we send. At most two a second where the group of frames is sent again, ten
    /// where the source makes one.
    case keyframeRequested
    /// What the line to the remote side takes has changed.
    case targetBitrate(CongestionController.Target)
  }

  package let owner: ParticipantID
  package let cname: String
  package let configuration: Configuration
  /// When ``poll(now:wallClock:)`` is needed next; nil when nothing will be due by itself.
  package var deadline: ContinuousClock.Instant? { due?.instant }
  /// How long packets take there and back.
  package internal(set) var roundTrip = RoundTripTime()
  /// The tracks that are, or were, received and sent, in the order of their sections.
  package internal(set) var receiving: [ReceiveTrack] = []
  package internal(set) var sending: [SendTrack] = []

  /// The ``deadline``.
  var due: MonotonicInstant?
  var generator: SplitMix64
  var router = StreamRouter()
  var clock: SessionClock?
  var sendClock: SendClock?
  var pacer: Pacer
  var congestion: CongestionController
  var transportSequence: TransportSequence
  var transportFeedback: TransportFeedbackRecorder?
  var bitrateEstimate = ReceiverBitrateEstimator()
  /// The ids by which packets of any section are read.
  var extensions = NegotiatedMedia.Extensions()
  var primedGroup: GroupOfPicturesCache?

  /// What the sender is told of the line: when packets arrive, or a limit for its bitrate.
  var sendsTransportFeedback = false
  var sendsBitrateEstimate = false

  /// What is done on purpose to each RTP packet that leaves.
  var alteration: (any PacketAlteration)?
  var isReady = false
  var isClosed = false
  var events: [MediaEvent] = []
  var keyframeWasRequested = false
  var nextReport: MonotonicInstant?
  /// A source of theirs whose reference time we have to answer (RFC 3611, 4.5).
  var referenceTime: (ssrc: UInt32, time: NTPTime, arrival: MonotonicInstant)?
  /// Sender reports of sources that have sent no packet yet.
  var earlyReports: [(report: SenderReport, arrival: MonotonicInstant)] = []
  var lastReportedRoundTrip: MonotonicInstant?
  var maximumBitrate: UInt64?
  var packetsRefused: UInt64 = 0

  /// - Parameters:
  ///   - owner: whose media is received.
  ///   - cname: our canonical name, the same for both tracks (RFC 3550, 6.5.1).
  ///   - seed: for first sequence numbers, timestamps and frame ID.
  package init(owner: ParticipantID, cname: String, seed: UInt64, configuration: Configuration = .init()) {
    self.owner = owner
    self.cname = cname
    self.configuration = configuration
    pacer = Pacer(configuration: configuration.pacing)
    congestion = CongestionController(configuration: configuration.congestion)
    generator = SplitMix64(seed: seed)
    transportSequence = TransportSequence(first: generator.next() & 0x7FFF)
  }

  /// Takes what a negotiation settled, the first or a later one. A track whose section and codec stay continues without a
  /// seam.
  package mutating func configure(_ media: [NegotiatedMedia], now: ContinuousClock.Instant) {
    let now = MonotonicInstant(now)
    guard !isClosed else { return }
    begin(now: now)
    router.configure(media)
    // In one bundle an extension has the same id everywhere (RFC 9143, 9.1), so what any section agreed to holds for
    // all.
    extensions.mid = media.firstNonNil(\.extensions.mid)
    extensions.streamID = media.firstNonNil(\.extensions.streamID)
    extensions.repairedStreamID = media.firstNonNil(\.extensions.repairedStreamID)
    extensions.transportSequenceNumber = media.firstNonNil(\.extensions.transportSequenceNumber)
    sendsTransportFeedback = media.contains { $0.receives && $0.feedback.transportWide }
    sendsBitrateEstimate =
      !sendsTransportFeedback && media.contains { $0.receives && $0.feedback.maximumBitrateEstimate }
    congestion.configure(
      transportWide: media.contains {
        $0.sends && $0.feedback.transportWide && $0.extensions.transportSequenceNumber != nil
      })
    configureReceiving(media, now: now)
    configureSending(media, now: now)
    startVideo(now: now)
  }

  /// Media can flow from now on: the transport has its keys.
  package mutating func transportBecameReady(now: ContinuousClock.Instant) {
    let now = MonotonicInstant(now)
    guard !isClosed, !isReady else { return }
    begin(now: now)
    isReady = true
    startVideo(now: now)
  }

  /// Asks the remote side for a keyframe of its video.
  package mutating func requestKeyframe(now: ContinuousClock.Instant) {
    let now = MonotonicInstant(now)
    guard !isClosed else { return }
    begin(now: now)
    for index in receiving.indices { receiving[index].requestKeyframe(now: now) }
  }

  /// The connection was seen to be broken, or starts again on another path: what is found to be missing next went with
  /// it, and is named so (``MediaGap/Reason/reconnect``).
  package mutating func connectionWasInterrupted(now: ContinuousClock.Instant) {
    let now = MonotonicInstant(now)
    guard !isClosed else { return }
    for index in receiving.indices { receiving[index].connectionWasInterrupted(now: now) }
  }

  /// Takes a round trip that was measured elsewhere, as by an ICE check; used until RTCP has its own.
  package mutating func roundTripMeasured(_ sample: Duration) {
    if lastReportedRoundTrip == nil { roundTrip.measured(sample) }
  }

  /// Whether packets wait for their moment to leave.
  package var isPacing: Bool {
    // Changes nothing; but to call anything else on a value of this size, Swift copies the whole value first.
    mutating get { isReady && !pacer.isEmpty }
  }

  /// The round trip in seconds; nil before the first measurement.
  package var roundTripTime: Double? { roundTrip.smoothed?.seconds }

  /// The counts of what is received.
  package var receiveStatistics: [MediaKind: TrackStatistics] {
    Dictionary(receiving.map { ($0.media.kind, $0.statistics) }) { first, _ in first }
  }

  /// The counts of what is sent, all tracks together.
  package var sendStatistics: SendStatistics {
    var sum = SendStatistics()
    for track in sending {
      sum.packetsSent += track.statistics.packetsSent
      sum.bytesSent += track.statistics.bytesSent
      sum.packetsRetransmitted += track.statistics.packetsRetransmitted
      sum.framesSent += track.statistics.framesSent
      sum.framesSkipped += track.statistics.framesSkipped
      sum.keyframeRequests += track.statistics.keyframeRequests
      sum.groupsReplayed += track.statistics.groupsReplayed
      sum.packetsLost += track.statistics.packetsLost
      sum.fractionLost = max(sum.fractionLost, track.statistics.fractionLost)
    }
    sum.targetBitrate = congestion.target
    sum.maximumBitrate = maximumBitrate
    return sum
  }

  /// Something has come or was requested: there is work to do now.
  mutating func begin(now: MonotonicInstant) {
    due = now
    startClocks(now: now)
  }

  /// There is work to do at an instant, if not before.
  mutating func wake(at instant: MonotonicInstant?) {
    guard let instant else { return }
    if let due, due <= instant { return }
    due = instant
  }

  /// Sets the zero of all time lines, the first time.
  mutating func startClocks(now: MonotonicInstant) {
    guard clock == nil else { return }
    // A moment earlier, so that a cached frame that was due before us still lies after the zero.
    let epoch = now - .seconds(10)
    clock = SessionClock(epoch: epoch)
    sendClock = SendClock(epoch: epoch)
    transportFeedback = TransportFeedbackRecorder(epoch: epoch)
  }
}

extension Sequence {
  fileprivate func firstNonNil<Value>(_ value: (Element) -> Value?) -> Value? {
    for element in self {
      if let found = value(element) { return found }
    }
    return nil
  }
}

/// The wall clock as sender reports tell it: read once, then moved on by the monotonic clock, so that a clock that is
/// set again during the call changes nothing for the receivers.
package struct SessionClock: Sendable {
  /// When media time, reference times and the like begin.
  package let epoch: MonotonicInstant
  private var reading: (instant: MonotonicInstant, time: NTPTime)?

  package init(epoch: MonotonicInstant) {
    self.epoch = epoch
  }

  /// Takes the wall clock's reading; only the first one counts.
  package mutating func read(_ time: NTPTime, now: MonotonicInstant) {
    if reading == nil { reading = (now, time) }
  }

  /// The wall clock at an instant; before the first reading, the time since the epoch.
  package func time(at now: MonotonicInstant) -> NTPTime {
    guard let reading else { return NTPTime(value: 0) + (now - epoch) }
    return reading.time + (now - reading.instant)
  }
}
