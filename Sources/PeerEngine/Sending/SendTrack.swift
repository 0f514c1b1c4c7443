import Media
import NIOCore
import RTP

/// Everything that is sent in one media section: frames to packets, packets again when they were lost, and the group of
/// frames again when a keyframe is requested.
package struct SendTrack: Sendable {
  package struct Configuration: Sendable, Hashable {
    /// What a request for a keyframe does, besides being told.
    package var keyframeAnswer = KeyframeResponse.replay
    /// The least time between two answers.
    package var keyframeInterval: Duration = .milliseconds(500)
    /// The least time between two requests to a source that makes keyframes; it joins what comes sooner by itself.
    package var requestInterval: Duration = .milliseconds(100)
    /// What the line may have to do before it gets to a frame. When more waits, frames are skipped up to a keyframe.
    package var longestBacklog: Duration = .seconds(1)
    /// The same where the source makes keyframes: what waits then is thrown away.
    package var staleBacklog: Duration = .milliseconds(400)
    /// How long the line may need for all frames since the last keyframe for them to be sent where some were skipped.
    package var resumptionTime: Duration = .milliseconds(500)
    /// What may wait when the frames continue with a keyframe.
    package var shortBacklog: Duration = .milliseconds(300)
    /// How long packets are kept to be sent again.
    package var history: Duration = .seconds(5)
    /// Bytes of the largest RTP packet, header included, SRTP's trailer not.
    package var maximumPacketSize = 1_200

    package init() {}
  }

  package let configuration: Configuration
  package private(set) var media: NegotiatedMedia
  package internal(set) var statistics = SendStatistics()
  package var reporter: SenderReporter
  /// Whether a report has told the receiver of this source.
  package var hasReported = false

  var stream: RTPStreamSender
  var repair: RTPStreamSender?
  var history: PacketHistory
  var budget = RetransmissionBudget()
  var group = GroupOfPicturesCache()
  /// mid, and room for what is only known when a packet leaves.
  var extensions = RTPHeaderExtensions()
  var pictureID: UInt16
  /// Where the last frame that was sent lies on the time line, a replayed one included.
  var lastTicks: Int64?
  /// Where the source's last frame lies.
  var lastFrameTicks: Int64?
  /// The distance of the source's last two frames in ticks.
  var frameInterval: Int64
  /// Whether frames are of no use until the next keyframe.
  var needsKeyframe = true
  /// Whether frames are skipped because the line had too much to do.
  var leavesOutVideoFrames = false
  /// Whether the source has to be requested a keyframe.
  var wantsSourceKeyframe = false
  var lastKeyframeAnswer: MonotonicInstant?
  /// Packets that the probe under way has sent again, counted from the newest.
  var fillersSent = 0
  var lastFullIntraRequest: (sender: UInt32, number: UInt8)?

  package init(
    media: NegotiatedMedia, configuration: Configuration = .init(), using generator: inout some RandomNumberGenerator
  ) {
    self.configuration = configuration
    self.media = media
    reporter = SenderReporter(clockRate: media.codec.clockRate)
    stream = RTPStreamSender(ssrc: media.localSSRC, payloadType: media.payloadType, using: &generator)
    history = PacketHistory(span: configuration.history)
    pictureID = generator.next() & 0x7FFF
    frameInterval = Int64(media.codec.clockRate) / 30
    if let ssrc = media.localRetransmissionSSRC {
      repair = RTPStreamSender(ssrc: ssrc, payloadType: 0, using: &generator)
    }
    reconfigure(media)
  }

  package var ssrc: UInt32 { stream.ssrc }

  /// The sources that a goodbye names: all that have sent.
  package var sources: [UInt32] {
    guard reporter.packetsSent > 0 else { return [] }
    return [ssrc] + (statistics.packetsRetransmitted > 0 ? [repair?.ssrc].compactMap(\.self) : [])
  }

  /// Whether feedback that names this source means this track.
  package func owns(_ ssrc: UInt32) -> Bool { ssrc == stream.ssrc || ssrc == repair?.ssrc }

  /// Takes the section's new settings; numbers and times continue.
  package mutating func reconfigure(_ media: NegotiatedMedia) {
    if self.media.sends != media.sends { needsKeyframe = true }
    self.media = media
    stream.payloadType = media.payloadType
    if let payloadType = media.retransmissionPayloadType { repair?.payloadType = payloadType }
    extensions = RTPHeaderExtensions()
    if let mid = media.mid { extensions.setText(mid, media.extensions.mid) }
    extensions.setAbsoluteSendTime(0, media.extensions.absoluteSendTime)
    extensions.setTransportSequenceNumber(0, media.extensions.transportSequenceNumber)
  }

  /// The timestamp of a place on the time line, for sender reports.
  package func timestamp(ticks: Int64) -> UInt32 { stream.timestamp(ticks: ticks) }
}

/// What becomes of a participant's keyframe request of what we send.
public enum KeyframeResponse: Sendable, Hashable {
  /// The frames since the last keyframe are sent again, as fast as the path carries them: for a recorded source, which cannot
  /// make a keyframe. Where the line does not take them within a second, frames are skipped up to the next keyframe.
  case replay
  /// The source makes one: nothing is sent again, and who comes late begins with a new keyframe.
  case source
}

/// Numbers every packet that leaves, over all sources of the transport
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01, 2).
package struct TransportSequence: Sendable {
  private var next: UInt16

  package init(first: UInt16 = 1) {
    next = first
  }

  package mutating func take() -> UInt16 {
    defer { next &+= 1 }
    return next
  }
}
