package import Media
package import NIOCore
package import RTP

/// All media of one remote peer, in both directions: plain RTP and RTCP in, frames out; frames in, plain RTP and RTCP out.
///
/// It does not encrypt, send or wait. Input is only noted; ``poll(now:wallClock:)`` returns everything that is due, and
/// ``deadline`` says when to call it next even if nothing arrives.
///
/// Left out on purpose: forward error correction (ULPFEC, FlexFEC), RTCP APP and XR blocks other than RRTR and DLRR, slice
/// and reference picture feedback, TMMBR, the minimal compounds of RFC 4585 (feedback is sent in reduced size, RFC 5506).
package struct MediaSession: Sendable {
  package struct Configuration: Sendable, Hashable {
    package var receiving = ReceiveTrack.Configuration()
    package var sending = SendTrack.Configuration()
    package var pacing = Pacer.Configuration()
    package var congestion = CongestionController.Configuration()
    /// The mean interval between two reports; each is varied by up to a fifth (RFC 3550, 6.2).
    package var reportInterval: Duration = .seconds(1)

    package init() {
      self.init(keyframeResponse: .replay)
    }

    /// A publisher's answer to a keyframe request takes a round trip and the time to encode a frame.
    private static let answerTimeout: Duration = .milliseconds(500)

    /// Returns a configuration for a kind of source.
    ///
    /// - Parameter isForwarding: whether the frames are those of another participant, who does not follow the bandwidth of this one.
    ///   Most make keyframes; for one that answers no request, as encoders that publish with WHIP often are, the group of pictures is
    ///   replayed.
    package init(keyframeResponse: KeyframeResponse, isForwarding: Bool = false) {
      sending.keyframeResponse = keyframeResponse
      if isForwarding {
        sending.staleBacklog = nil
        sending.answerTimeout = Self.answerTimeout
      }
      if keyframeResponse == .replay || isForwarding {
        congestion.sourceFollows = false
        congestion.startBitrate = CongestionController.Configuration.startBitrateOfRecording
      }
    }
  }

  /// The outputs, in this order.
  package enum Output: Sendable, Hashable {
    /// An RTP packet to protect and send.
    case rtp(ByteBuffer)
    /// An RTCP packet, compound or reduced-size, to protect and send.
    case rtcp(ByteBuffer)
    /// Events of received media: all since the last poll.
    case events([MediaEvent])
    /// The remote side requests a keyframe. Reported at most twice a second if the group of pictures is replayed, ten times
    /// a second if the source makes a keyframe.
    case keyframeRequested
    /// The bitrate that the network path can carry has changed.
    case targetBitrate(CongestionController.Target)
    /// Frames of a codec cannot be sent, because its section was negotiated without it. Reported once for each codec.
    case codecNotNegotiated(Codec)
  }

  package let owner: ParticipantID
  package let cname: String
  package let configuration: Configuration
  /// When ``poll(now:wallClock:)`` must be called next; nil when nothing is scheduled.
  package internal(set) var deadline: MonotonicInstant?
  /// The round-trip time.
  package internal(set) var roundTrip = RoundTripTime()
  /// The tracks that are, or were, received and sent, in the order of their media sections.
  package internal(set) var receiving: [ReceiveTrack] = []
  package internal(set) var sending: [SendTrack] = []

  var generator: SplitMix64
  var router = StreamRouter()
  var clock: SessionClock?
  var sendClock: SendClock?
  var pacer: Pacer
  var congestion: CongestionController
  var transportSequence: TransportSequence
  var transportFeedback: TransportFeedbackRecorder?
  var bitrateEstimate = ReceiverBitrateEstimator()
  /// The header extension ids, which apply to packets of every media section.
  var extensions = NegotiatedMedia.Extensions()
  /// The frames since the last keyframe of each of our streams that has no section yet.
  var primedGroups: [Int: GroupOfPicturesCache] = [:]
  /// Codecs of frames that could not be sent, and those of them that were reported.
  var missingCodecs: Set<Codec> = []
  var reportedCodecs: Set<Codec> = []
  /// The senders of sources whose track was removed. A track with the same SSRC continues their sequence numbers: SRTP would not
  /// protect packets with numbers that were used (RFC 3711, 3.3.1).
  var formerStreams: [UInt32: RTPStreamSender] = [:]
  /// What was reported of each stream of the participant.
  var streams: [Int: MediaStream] = [:]

  /// Which congestion feedback the remote sender expects: arrival times of packets, or a limit for its bitrate.
  var sendsTransportFeedback = false
  var sendsBitrateEstimate = false

  /// What sees each RTP packet before it is sent; nil for nothing.
  var interceptors: RTPInterceptorChain?
  var isReady = false
  var isClosed = false
  var events: [MediaEvent] = []
  var keyframeWasRequested = false
  var nextReport: MonotonicInstant?
  /// A remote source whose reference time we must answer (RFC 3611, 4.5).
  var referenceTime: (ssrc: UInt32, time: NTPTime, arrival: MonotonicInstant)?
  /// Sender reports of sources that have not sent a packet yet.
  var earlyReports: [(report: SenderReport, arrival: MonotonicInstant)] = []
  var lastReportedRoundTrip: MonotonicInstant?
  var maximumBitrate: UInt64?
  var packetsRefused: UInt64 = 0
  /// Whether a packet has arrived.
  var hasReceivedPacket = false
  /// Video that is suspended because this machine has no time for it.
  var suspension = VideoSuspension()

  /// - Parameters:
  ///   - owner: the participant whose media is received.
  ///   - cname: our canonical name, the same for both tracks (RFC 3550, 6.5.1).
  ///   - seed: the seed for initial sequence numbers, timestamps and picture ids.
  package init(owner: ParticipantID, cname: String, seed: UInt64, configuration: Configuration = .init()) {
    self.owner = owner
    self.cname = cname
    self.configuration = configuration
    pacer = Pacer(configuration: configuration.pacing)
    congestion = CongestionController(configuration: configuration.congestion)
    generator = SplitMix64(seed: seed)
    transportSequence = TransportSequence(first: generator.next() & 0x7FFF)
  }

  /// Applies the result of a negotiation, the first or a later one. A track whose media section stays the same
  /// continues without interruption.
  package mutating func configure(_ media: [NegotiatedMedia], now: MonotonicInstant) {
    guard !isClosed else { return }
    begin(now: now)
    router.configure(media)
    // In one bundle, an extension has the same id everywhere (RFC 9143, 9.1), so what one media section negotiated holds
    // for all.
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

  /// Starts sending: the transport has its keys.
  package mutating func transportBecameReady(now: MonotonicInstant) {
    guard !isClosed, !isReady else { return }
    begin(now: now)
    isReady = true
    startVideo(now: now)
  }

  /// Requests a keyframe of the remote side's video.
  package mutating func requestKeyframe(now: MonotonicInstant) {
    guard !isClosed else { return }
    begin(now: now)
    for index in receiving.indices { receiving[index].requestKeyframe(now: now) }
  }

  /// Notes that the connection was interrupted or continues on another path: packets found missing next are attributed to
  /// that (``MediaGap/Reason/reconnect``).
  package mutating func connectionWasInterrupted(now: MonotonicInstant) {
    guard !isClosed else { return }
    for index in receiving.indices { receiving[index].connectionWasInterrupted(now: now) }
  }

  /// Adds a round-trip time that was measured elsewhere, such as by an ICE check; used until RTCP has measured one.
  package mutating func roundTripMeasured(_ sample: Duration) {
    if lastReportedRoundTrip == nil { roundTrip.measured(sample) }
  }

  /// Whether packets are queued in the pacer.
  package var isPacing: Bool {
    // The getter changes nothing. It is mutating because Swift copies a value of this size before a nonmutating call.
    mutating get { isReady && !pacer.isEmpty }
  }

  /// The smoothed round-trip time in seconds; nil before the first measurement.
  package var roundTripTime: Double? { roundTrip.smoothed?.seconds }

  /// The statistics of the received tracks.
  package var receiveStatistics: [TrackID: TrackStatistics] {
    Dictionary(receiving.map { ($0.id, $0.statistics) }) { first, _ in first }
  }

  /// The statistics of all sent tracks together.
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
      sum.receptionReports += track.statistics.receptionReports
      sum.fractionLost = max(sum.fractionLost, track.statistics.fractionLost)
    }
    sum.targetBitrate = congestion.target
    sum.maximumBitrate = maximumBitrate
    return sum
  }

  /// Makes a poll due now, because something has arrived or was requested.
  mutating func begin(now: MonotonicInstant) {
    deadline = now
    startClocks(now: now)
  }

  /// Makes a poll due at an instant, if none is due before.
  mutating func wake(at instant: MonotonicInstant?) {
    guard let instant else { return }
    if let deadline, deadline <= instant { return }
    deadline = instant
  }

  /// Sets the origin of all timelines, unless it is set already.
  mutating func startClocks(now: MonotonicInstant) {
    guard clock == nil else { return }
    // The origin lies in the past so that a cached frame that was due before now has a positive time.
    let epoch = now - .seconds(10)
    clock = SessionClock(epoch: epoch)
    sendClock = SendClock(epoch: epoch)
    transportFeedback = TransportFeedbackRecorder(epoch: epoch)
  }
}

extension Sequence {
  func firstNonNil<Value>(_ value: (Element) -> Value?) -> Value? {
    for element in self {
      if let found = value(element) { return found }
    }
    return nil
  }
}

/// The wall clock in sender reports: read once, then advanced by the monotonic clock, so that setting the clock during the
/// call does not affect receivers.
package struct SessionClock: Sendable {
  /// The origin of media times and reference times.
  package let epoch: MonotonicInstant
  private var reading: (instant: MonotonicInstant, time: NTPTime)?

  package init(epoch: MonotonicInstant) {
    self.epoch = epoch
  }

  /// Sets the wall clock's reading; only the first one counts.
  package mutating func read(_ time: NTPTime, now: MonotonicInstant) {
    if reading == nil { reading = (now, time) }
  }

  /// Returns the wall clock at an instant; before the first reading, the time since the epoch.
  package func time(at now: MonotonicInstant) -> NTPTime {
    guard let reading else { return NTPTime(value: 0) + (now - epoch) }
    return reading.time + (now - reading.instant)
  }
}
