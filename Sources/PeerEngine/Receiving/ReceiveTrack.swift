package import Media
import NIOCore
package import RTP

/// The receiver of one track: turns packets of any of its sources into frames on one timeline.
///
/// A track can have several sources: simulcast layers, or one that replaced another. Frames are assembled from one at a
/// time.
package struct ReceiveTrack: Sendable {
  package let owner: ParticipantID
  package let configuration: Configuration
  package internal(set) var media: NegotiatedMedia
  /// The format of the packets that frames are assembled from.
  package internal(set) var format: MediaFormat
  package internal(set) var statistics = TrackStatistics()

  /// When ``poll(roundTrip:now:feedback:events:)`` must be called next even if nothing arrives.
  package private(set) var deadline: MonotonicInstant?

  /// The recently active sources, in order of their first packet.
  var sources: [ReceivedSource] = []
  /// The source that frames are assembled from.
  var selected: UInt32?
  /// Sources that were selected before: they are selected again only when the present one is silent.
  var retired: [UInt32] = []
  /// Turns the packets of the selected source into frames.
  var reader: PayloadReader
  /// How the frames of the selected source are turned before they are shown.
  var orientation = OrientationTracker()
  /// The copies of audio in packets of RED; nil as long as none has arrived.
  var redundancy: RedundantCopies?
  var timeline: SourceTimeline
  /// Gives frames their presentation times, of a codec that reorders them.
  var timestamper = PresentationTimestamper()
  /// Whether the selected source's sender report still has to be reported: it arrived before the first frame was emitted.
  var reportIsPending = false
  /// When the last sender report was reported.
  var clockReported: MonotonicInstant?

  /// Classifies the gap between two frames.
  var gaps: GapClassifier
  /// The number of settled sequence numbers of sources that were selected before this one.
  var expectedOfEarlierSources: UInt64 = 0

  /// Whether the track is suspended: arriving packets are discarded before decryption.
  var isSuspended = false

  /// Whether it was reported that the next frame is late.
  var isRecovering = false

  private var requester: KeyframeRequester
  private var fullIntraRequestNumber: UInt8 = 0
  /// Whether a keyframe was requested without a loss.
  var keyframeIsWanted = false
  private var meter = RateCounter()
  private var nextStatistics: MonotonicInstant?

  package init(media: NegotiatedMedia, owner: ParticipantID, configuration: Configuration = .init()) {
    self.media = media
    self.owner = owner
    self.configuration = configuration
    format = media.format
    reader = PayloadReader(media.codec, parameterSets: media.format.parameterSets)
    timeline = SourceTimeline(clockRate: media.codec.clockRate)
    gaps = GapClassifier(kind: media.kind)
    requester = KeyframeRequester(interval: configuration.keyframeInterval)
  }

  /// Names the track in events.
  package var id: TrackID { TrackID(of: owner, stream: media.stream, kind: media.kind) }

  /// The sender's source that feedback refers to: the selected one, or else an announced one.
  package var mediaSSRC: UInt32? { selected ?? media.remoteSources.first?.ssrc }

  /// The share of packets that did not arrive at the first try, 0 to 1, between the last two reports.
  package var fractionLost: Double {
    mutating get {
      guard let position = selectedIndex else { return 0 }
      return sources[position].reporter.fractionLost
    }
  }

  /// Returns the payload bitrate in bits a second over the last second.
  package mutating func bitrate(now: MonotonicInstant) -> Double { meter.bitrate(now: now) }

  /// The packets that have arrived and are still buffered.
  package var waiting: (packets: Int, bytes: Int) {
    sources.first { $0.ssrc == selected }.map { ($0.waitingPackets, $0.waitingBytes) } ?? (0, 0)
  }

  /// Applies the section's new settings; its sources continue.
  package mutating func reconfigure(_ media: NegotiatedMedia, now: MonotonicInstant) {
    if self.media.receives && !media.receives { gaps.wasMuted(now: now) }
    self.media = media
    // The payload types may have changed; the codec has not. Several formats may have it: the sender keeps the one that it uses.
    if let same = media.format(of: format.payloadType), same.codec == format.codec {
      format = same
    } else {
      format = media.format(of: format.codec) ?? format
    }
    reader.setDescribed(format.parameterSets)
  }

  /// Notes that the connection was interrupted: gaps detected from now on are attributed to that.
  package mutating func connectionWasInterrupted(now: MonotonicInstant) {
    gaps.connectionWasInterrupted(now: now)
  }

  /// Handles a packet that the router assigned to this track; frames that it completes are appended to `events`.
  ///
  /// - Returns: A sample of the round-trip time, if the packet answers a single request.
  package mutating func receive(
    _ packet: RTPPacket, route: StreamRouter.Route, now: MonotonicInstant, events: inout [MediaEvent]
  ) -> Duration? {
    if route.isRedundant { return receiveRedundant(packet, route: route, now: now, events: &events) }
    if nextStatistics == nil { nextStatistics = now + configuration.statisticsInterval }
    meter.add(bytes: packet.payload.readableBytes, now: now)
    guard let original = route.isRetransmission ? unwrap(packet, route: route) : packet else { return nil }
    defer { updateDeadline(now: now) }
    if route.payloadType != format.payloadType,
      !changeFormat(to: route.payloadType, first: original, now: now, events: &events)
    {
      return nil
    }
    guard let position = sourceIndex(of: original, route: route, now: now),
      select(position, packet: original, route: route, now: now, events: &events)
    else { return nil }
    let (reception, roundTrip) = sources[position].receive(
      original, isRetransmission: route.isRetransmission, arrival: now, statistics: &statistics)
    if reception == .restarted { restart(position, now: now, events: &events) }
    drain(now: now, events: &events)
    reportRecovery(now: now, events: &events)
    return roundTrip
  }

  /// Requests a keyframe without a loss.
  package mutating func requestKeyframe(now: MonotonicInstant) {
    keyframeIsWanted = media.kind == .video
    updateDeadline(now: now)
  }

  /// Does everything that is due: requests packets and keyframes, emits frames that need not wait any more, and reports
  /// statistics.
  package mutating func poll(
    roundTrip: RoundTripTime, now: MonotonicInstant, feedback: inout [RTCPPacket], events: inout [MediaEvent]
  ) {
    if let position = selectedIndex, let due = sources[position].deadline, due <= now, !isSuspended {
      let requests = sources[position].requests(roundTrip: roundTrip, now: now)
      if !requests.isEmpty {
        statistics.packetsRequested += UInt64(requests.count)
        feedback.append(
          .genericNACK(
            GenericNACK(
              senderSSRC: media.localSSRC, mediaSSRC: sources[position].ssrc, sequenceNumbers: requests)))
      }
      drain(now: now, events: &events)
    }
    if timestamper.deadline.map({ $0 <= now }) ?? false {
      timestamper.expire(now: now)
      takeTimestamped(&events)
    }
    reportRecovery(now: now, events: &events)
    if requester.poll(wanted: wantsKeyframe(now: now), now: now), let request = keyframeRequest() {
      statistics.keyframeRequests += 1
      feedback.append(request)
    }
    if let due = nextStatistics, due <= now {
      nextStatistics = now + configuration.statisticsInterval
      reportStatistics(now: now, events: &events)
    }
    updateDeadline(now: now)
  }

  private mutating func updateDeadline(now: MonotonicInstant) {
    var earliest = nextStatistics
    func consider(_ instant: MonotonicInstant?) {
      if let instant { earliest = earliest.map { min($0, instant) } ?? instant }
    }
    consider(timestamper.deadline)
    if let position = selectedIndex {
      if !isSuspended { consider(sources[position].deadline) }
      if !isRecovering { consider(sources[position].recoveryIsSlow) }
      if wantsKeyframe(now: now) {
        consider(requester.deadline(wanted: true, now: now))
      } else if let due = sources[position].keyframeIsDue, due > now {
        // A keyframe that is already due is not requested, because the sender is silent; its next packet changes that.
        consider(due)
      }
    }
    deadline = earliest
  }

  /// Emits all usable buffered frames, and reports the last statistics.
  package mutating func finish(now: MonotonicInstant, events: inout [MediaEvent]) {
    retireSelected(now: now, isOver: true, events: &events)
    if nextStatistics != nil { reportStatistics(now: now, events: &events) }
    nextStatistics = nil
  }

  private mutating func reportStatistics(now: MonotonicInstant, events: inout [MediaEvent]) {
    if let position = selectedIndex { statistics.jitter = sources[position].reporter.jitterSeconds }
    statistics.bitrate = meter.bitrate(now: now)
    events.append(.statistics(id, statistics))
  }
}

/// Keyframes.
extension ReceiveTrack {
  /// Returns whether a keyframe is needed and none is arriving.
  private mutating func wantsKeyframe(now: MonotonicInstant) -> Bool {
    guard media.kind == .video, !isSuspended, let position = selectedIndex else { return false }
    // No keyframe is requested from a sender that has stopped: it may have been muted.
    let silence = now - sources[position].lastArrival
    guard silence < configuration.sourceTimeout + configuration.sourceTimeout else { return false }
    if let due = sources[position].keyframeIsDue, due <= now { return true }
    guard reader.needsKeyframe || keyframeIsWanted else { return false }
    return !sources[position].keyframeIsComing && !reader.isGatheringKeyframe
  }

  /// Returns a PLI if that was negotiated, or if neither was; else a FIR.
  private mutating func keyframeRequest() -> RTCPPacket? {
    guard let selected else { return nil }
    if format.feedback.fullIntraRequest && !format.feedback.pictureLossIndication {
      fullIntraRequestNumber &+= 1
      return .fullIntraRequest(
        FullIntraRequest(
          senderSSRC: media.localSSRC, entries: [.init(ssrc: selected, sequenceNumber: fullIntraRequestNumber)]))
    }
    return .pictureLossIndication(PictureLossIndication(senderSSRC: media.localSSRC, mediaSSRC: selected))
  }
}

/// Decides when to request a keyframe from the sender: at once when one is needed, and again until it has arrived, since a
/// request can be lost like any packet; but never more often than the interval allows.
package struct KeyframeRequester: Sendable {
  /// The minimum time between two requests.
  package let interval: Duration
  /// The number of requests made so far.
  package private(set) var requests: UInt64 = 0

  private var earliest: MonotonicInstant?

  package init(interval: Duration = .milliseconds(500)) {
    self.interval = interval
  }

  /// Returns whether to send a request now; if so, it counts as sent.
  ///
  /// - Parameter wanted: whether a keyframe is needed and none is arriving.
  package mutating func poll(wanted: Bool, now: MonotonicInstant) -> Bool {
    guard wanted else { return false }
    if let earliest, now < earliest { return false }
    earliest = now + interval
    requests += 1
    return true
  }

  /// Returns when a request may be sent, provided that a keyframe is still needed then.
  package func deadline(wanted: Bool, now: MonotonicInstant) -> MonotonicInstant? {
    guard wanted else { return nil }
    return earliest.map { max($0, now) } ?? now
  }
}
