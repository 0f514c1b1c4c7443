package import Media
import NIOCore
package import RTP

/// Everything received of one media section: from packets of whatever source to frames on one time line.
///
/// A section can have several sources: simulcast layers, or one that took another's place. Frames come of one at a
/// time.
package struct ReceiveTrack: Sendable {
  package let owner: ParticipantID
  package let configuration: Configuration
  package internal(set) var media: NegotiatedMedia
  package internal(set) var statistics = TrackStatistics()

  /// When ``poll(roundTrip:now:feedback:events:)`` is needed next even if nothing comes.
  package private(set) var deadline: MonotonicInstant?

  /// All sources heard recently, in the order of their coming.
  var sources: [ReceivedSource] = []
  /// The source that frames are made of.
  var selected: UInt32?
  /// Sources that were selected before: when they are heard again they must wait until the present one is silent.
  var retired: [UInt32] = []
  /// Makes frames of VP8 packets; idle in an audio track, where a packet is a frame.
  var video = VP8Receiver()
  var timeline: SourceTimeline
  /// Whether the selected source's clock report still has to be told: it came before its first packet was handed on.
  var reportIsPending = false
  /// When the last sender report was told.
  var clockReported: MonotonicInstant?

  /// Names what is missing between two frames.
  var gaps: GapClassifier
  /// The numbers that were settled of sources that were selected before this one.
  var expectedOfEarlierSources: UInt64 = 0

  /// Whether packets are left unread that come.
  var isUnread = false

  /// Whether it was told that the next frame comes late.
  var isRecovering = false

  private var requester: KeyframeRequester
  private var fullIntraRequestNumber: UInt8 = 0
  /// Whether somebody requested a keyframe without there being a loss.
  var keyframeIsWanted = false
  private var meter = RateCounter()
  private var nextStatistics: MonotonicInstant?

  package init(media: NegotiatedMedia, owner: ParticipantID, configuration: Configuration = .init()) {
    self.media = media
    self.owner = owner
    self.configuration = configuration
    timeline = SourceTimeline(clockRate: media.codec.clockRate)
    gaps = GapClassifier(kind: media.kind)
    requester = KeyframeRequester(interval: configuration.keyframeInterval)
  }

  /// One of the sender's sources for feedback to name: the one that frames are made of, or else one that is announced.
  package var mediaSSRC: UInt32? { selected ?? media.remoteSources.first?.ssrc }

  /// The share of packets that did not arrive at the first try, 0 to 1, between the last two reports.
  package var fractionLost: Double {
    mutating get {
      guard let position = selectedIndex else { return 0 }
      return sources[position].reporter.fractionLost
    }
  }

  /// Bits of payload a second over the last second.
  package mutating func bitrate(now: MonotonicInstant) -> Double { meter.bitrate(now: now) }

  /// What came and is not handed on yet.
  package var waiting: (packets: Int, bytes: Int) {
    sources.first { $0.ssrc == selected }.map { ($0.waitingPackets, $0.waitingBytes) } ?? (0, 0)
  }

  /// Takes the section's new settings; its sources continue.
  package mutating func reconfigure(_ media: NegotiatedMedia, now: MonotonicInstant) {
    if self.media.receives && !media.receives { gaps.wasMuted(now: now) }
    self.media = media
  }

  /// The connection was seen to be broken: what is found to be missing from now on went with it.
  package mutating func connectionWasInterrupted(now: MonotonicInstant) {
    gaps.connectionWasInterrupted(now: now)
  }

  /// Takes in a packet that the router gave to this track; frames that it completes are added to `events`.
  ///
  /// - Returns: a round trip, when the packet is the answer to a single request.
  package mutating func receive(
    _ packet: RTPPacket, route: StreamRouter.Route, now: MonotonicInstant, events: inout [MediaEvent]
  ) -> Duration? {
    if nextStatistics == nil { nextStatistics = now + configuration.statisticsInterval }
    meter.add(bytes: packet.payload.readableBytes, now: now)
    guard let original = route.isRetransmission ? unwrap(packet, route: route) : packet else { return nil }
    defer { updateDeadline(now: now) }
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

  /// Requests a keyframe although nothing is lost.
  package mutating func requestKeyframe(now: MonotonicInstant) {
    keyframeIsWanted = media.codec == .vp8
    updateDeadline(now: now)
  }

  /// Does what is due: requests packets and keyframes, hands on what need not wait any more, tells the counts.
  package mutating func poll(
    roundTrip: RoundTripTime, now: MonotonicInstant, feedback: inout [RTCPPacket], events: inout [MediaEvent]
  ) {
    if let position = selectedIndex, let due = sources[position].deadline, due <= now, !isUnread {
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
    if let position = selectedIndex {
      if !isUnread { consider(sources[position].deadline) }
      if !isRecovering { consider(sources[position].recoveryIsSlow) }
      if wantsKeyframe(now: now) {
        consider(requester.deadline(wanted: true, now: now))
      } else if let due = sources[position].keyframeIsDue, due > now {
        // One that is due already is not wanted, because the sender is silent; its next packet changes that.
        consider(due)
      }
    }
    deadline = earliest
  }

  /// Hands on all that can be used of what still waits, and tells the last counts.
  package mutating func finish(now: MonotonicInstant, events: inout [MediaEvent]) {
    retireSelected(now: now, events: &events)
    if nextStatistics != nil { reportStatistics(now: now, events: &events) }
    nextStatistics = nil
  }

  private mutating func reportStatistics(now: MonotonicInstant, events: inout [MediaEvent]) {
    if let position = selectedIndex { statistics.jitter = sources[position].reporter.jitterSeconds }
    statistics.bitrate = meter.bitrate(now: now)
    events.append(.statistics(media.kind, statistics))
  }
}

/// Keyframes.
extension ReceiveTrack {
  /// Whether a keyframe is needed and none is on its way.
  private mutating func wantsKeyframe(now: MonotonicInstant) -> Bool {
    guard media.codec == .vp8, !isUnread, let position = selectedIndex else { return false }
    // A sender that has stopped is not asked: it may have been muted.
    let silence = now - sources[position].lastArrival
    guard silence < configuration.sourceTimeout + configuration.sourceTimeout else { return false }
    if let due = sources[position].keyframeIsDue, due <= now { return true }
    return (video.needsKeyframe || keyframeIsWanted) && !sources[position].keyframeIsComing
      && !video.isGatheringKeyframe
  }

  /// PLI where it was agreed to, or where nothing was; else FIR.
  private mutating func keyframeRequest() -> RTCPPacket? {
    guard let selected else { return nil }
    if media.feedback.fullIntraRequest && !media.feedback.pictureLossIndication {
      fullIntraRequestNumber &+= 1
      return .fullIntraRequest(
        FullIntraRequest(
          senderSSRC: media.localSSRC, entries: [.init(ssrc: selected, sequenceNumber: fullIntraRequestNumber)]))
    }
    return .pictureLossIndication(PictureLossIndication(senderSSRC: media.localSSRC, mediaSSRC: selected))
  }
}
