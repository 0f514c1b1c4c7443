package import Media

/// An event of a peer that a check receives.
package enum CheckEvent: Sendable, Hashable {
  case step(CallStep)
  /// A frame of the peer, in decoding order within its track.
  case frame(EncodedFrame)
  /// What the peer's description says of one of its streams.
  case described(MediaStream)
  /// The peer's clock at a media time.
  case clock(ClockReport)
  case sample(ConnectionSample)
  /// Frames of the peer that arrived before the next reported frame and will not be reported.
  case skipped(SkippedFrames)
  /// A media section of the call was rejected, by us or by the peer.
  case sectionRejected(RejectedSection)
  /// The kinds of media that the peer sends according to its description.
  case mediaAnnounced(Set<MediaKind>)
  /// What our data channel to the peer has carried so far.
  case data(DataReport)
  /// A chat message of the peer, or one of ours to it.
  case message(from: String, name: String?, text: String)
}

/// A step in setting up a call, or its end.
package enum CallStep: Sendable, Hashable {
  /// The peer was seen in the room, or the call began with its offer.
  case appeared
  case offerSent
  case offerReceived
  case answerSent
  case answerReceived
  /// A local or remote candidate, whether part of a description or trickled.
  case localCandidate(CandidateKind)
  case remoteCandidate(CandidateKind)
  /// We sent our first ICE connectivity check.
  case checksBegun
  /// The peer answered one of our ICE checks.
  case checkAnswered
  case iceConnected
  /// ICE and DTLS are connected: media can flow.
  case dtlsConnected
  /// The first media packet arrived.
  case firstPacket
  /// The peer is gone; the text is one sentence about the reason.
  case departed(PeerReport.Departure.Cause, String)
}

/// The counters of the connection to one peer at one moment. Counters only grow; the receiver detects a restart.
package struct ConnectionSample: Sendable, Hashable {
  /// Which counters belong to the time since the previous sample.
  package enum Timing: Sendable, Hashable {
    /// All of them: they were read at this time.
    case all
    /// Those of packets only.
    case packets
    /// None: they are totals whose place in time is not known.
    case none
  }

  /// What was sent; the counters of a connection.
  package struct Sent: Sendable, Hashable {
    /// RTP packets, including retransmissions.
    package var packets: UInt64 = 0
    /// RTP payload bytes.
    package var bytes: UInt64 = 0
    package var frames: UInt64 = 0
    /// Packets that the peer reported as lost.
    package var packetsLost: Int64 = 0
    /// Keyframes that the peer requested.
    package var keyframeRequests: UInt64 = 0
    /// The estimated bandwidth of the network path, in bits per second.
    package var targetBitrate: Int?

    package init() {}
  }

  package var timing = Timing.all
  /// The received packets, by track of the peer.
  package var received: [TrackID: TrackStatistics] = [:]
  /// What was sent; nil if that is not counted, as in a recording.
  package var sent: Sent?
  /// The round-trip time in seconds.
  package var roundTripTime: Double?
  package var localAddress: String?
  package var remoteAddress: String?
  /// The types of the candidates with these addresses.
  package var localCandidateType: CandidateKind?
  package var remoteCandidateType: CandidateKind?
  package var protectionProfile: String?
  /// Why the peer cannot reach us, as a clause; nil if we have an address for it.
  package var unreachableReason: String?
  /// ICE checks that we sent, and those that the peer answered. They imply the steps `checksBegun` and `checkAnswered`
  /// if these were not reported.
  package var checksSent: UInt64 = 0
  package var checksAnswered: UInt64 = 0
  /// The packets that `--impair` affected.
  package var impairment = ConnectionReport.Impairment()

  package init() {}
}

/// Frames of a stream that arrived but were not decoded, because the caller of the judge did not keep up. A run extends
/// from the first skipped frame to the next keyframe, so that decoded video is never broken.
package struct SkippedFrames: Sendable, Hashable {
  /// The number of the peer's stream, from 1.
  package var stream: Int
  package var count: Int
  package var keyframes: Int
  /// The bytes of the skipped frames.
  package var bytes: Int
  /// The arrival times of the first and the last skipped frame.
  package var first: ContinuousClock.Instant
  package var last: ContinuousClock.Instant

  /// - Returns: nil if nothing was dropped.
  package init?(_ dropped: DroppedFrameRun, ofStream stream: Int) {
    guard let first = dropped.firstArrival, let last = dropped.lastArrival else { return nil }
    self.stream = stream
    count = dropped.count
    keyframes = dropped.keyframes
    bytes = dropped.bytes
    self.first = first.instant
    self.last = last.instant
  }

  /// Describes one skipped frame.
  package init(stream: Int = 1, bytes: Int, isKeyframe: Bool, arrival: ContinuousClock.Instant) {
    self.stream = stream
    count = 1
    keyframes = isKeyframe ? 1 : 0
    self.bytes = bytes
    first = arrival
    last = arrival
  }

  /// Adds the run of frames of the same stream that followed.
  package mutating func add(_ next: SkippedFrames) {
    count += next.count
    keyframes += next.keyframes
    bytes += next.bytes
    first = min(first, next.first)
    last = max(last, next.last)
  }
}
