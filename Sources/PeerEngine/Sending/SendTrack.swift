package import Media
import NIOCore
import RTP
import SDP

/// The sender of one media section: packetizes frames, retransmits lost packets, and replays the group of pictures when a
/// keyframe is requested.
package struct SendTrack: Sendable {
  package struct Configuration: Sendable, Hashable {
    /// What a keyframe request causes, besides being reported.
    package var keyframeResponse = KeyframeResponse.replay
    /// The minimum time between two replays.
    package var keyframeInterval: Duration = .milliseconds(500)
    /// The minimum time between two requests to a source that makes keyframes; the source itself merges requests that are
    /// closer together.
    package var requestInterval: Duration = .milliseconds(100)
    /// How long a source that makes keyframes may take to answer a request; then the group of pictures is replayed instead. Nil if it
    /// answers every request.
    package var answerTimeout: Duration?
    /// The maximum backlog of the path. When it is longer, frames are skipped up to a keyframe.
    package var maximumBacklog: Duration = .seconds(1)
    /// The same while no limit of the path is known and the frames since the last keyframe are kept, with which a viewer is started.
    package var maximumPacedBacklog: Duration = .seconds(10)
    /// The same if the source makes keyframes for us: then queued frames are dropped, because a new keyframe is worth more.
    /// Nil if they are sent all the same: a forwarded source makes keyframes for everybody, or answers no request, and most of
    /// what was queued would be missing.
    package var staleBacklog: Duration? = .milliseconds(400)
    /// The maximum time that the path may need for all frames since the last keyframe, for them to be sent after some were
    /// skipped.
    package var resumptionTime: Duration = .milliseconds(500)
    /// The maximum backlog at which sending resumes with a keyframe.
    package var shortBacklog: Duration = .milliseconds(300)
    /// How long packets are stored for retransmission.
    package var history: Duration = .seconds(5)
    /// The maximum size of an RTP packet in bytes, header included, SRTP trailer not.
    package var maximumPacketSize = 1_200

    package init() {}

    /// Whether the frames since the last keyframe are kept, because they may be replayed.
    var keepsGroup: Bool { keyframeResponse == .replay || answerTimeout != nil }
  }

  package let configuration: Configuration
  package private(set) var media: NegotiatedMedia
  /// The format of the frames.
  package private(set) var format: MediaFormat
  package internal(set) var statistics = SendStatistics()
  package var reporter: SenderReporter
  /// Whether a sender report for this source has been sent.
  package var hasReported = false

  var stream: RTPStreamSender
  var repair: RTPStreamSender?
  var history: PacketHistory
  var budget = RetransmissionBudget()
  var group = GroupOfPicturesCache()
  /// How many of the group's frames, from its keyframe on, the viewer was sent; 0 if it needs the keyframe again.
  var sentOfGroup = 0
  /// The mid, and room for extensions whose value is only known when a packet leaves.
  var extensions = RTPHeaderExtensions()
  var payloadWriter: PayloadWriter
  /// The position of the last sent frame on the timeline, including replayed ones.
  var lastTicks: Int64?
  /// The position of the source's last frame.
  var lastFrameTicks: Int64?
  /// The distance of the source's last two frames in ticks.
  var frameInterval: Int64
  /// Whether no frame can be sent before the next keyframe.
  var needsKeyframe = true
  /// Whether the frames since the last keyframe have a profile that the section does not have, so that they are not sent.
  package internal(set) var lacksProfile = false
  /// Whether frames are skipped because the path was congested.
  var isSkippingFrames = false
  /// Whether a keyframe must be requested from the source.
  var wantsSourceKeyframe = false
  var lastKeyframeAnswer: MonotonicInstant?
  /// When the group of pictures is replayed, unless the source makes a keyframe before.
  package var replayDue: MonotonicInstant?
  /// The number of packets that the current probe has retransmitted, counted from the newest.
  var fillersSent = 0
  var lastFullIntraRequest: (sender: UInt32, number: UInt8)?

  package init(
    media: NegotiatedMedia, configuration: Configuration = .init(), using generator: inout some RandomNumberGenerator
  ) {
    self.configuration = configuration
    self.media = media
    format = media.format
    reporter = SenderReporter(clockRate: media.codec.clockRate)
    stream = RTPStreamSender(ssrc: media.localSSRC, payloadType: media.payloadType, using: &generator)
    history = PacketHistory(span: configuration.history)
    payloadWriter = PayloadWriter(media.codec, using: &generator)
    frameInterval = Int64(media.codec.clockRate) / 30
    if let ssrc = media.localRetransmissionSSRC {
      repair = RTPStreamSender(ssrc: ssrc, payloadType: 0, using: &generator)
    }
    reconfigure(media)
  }

  package var ssrc: UInt32 { stream.ssrc }

  /// The sources in a BYE: all that have sent.
  package var sources: [UInt32] {
    guard reporter.packetsSent > 0 else { return [] }
    return [ssrc] + (statistics.packetsRetransmitted > 0 ? [repair?.ssrc].compactMap(\.self) : [])
  }

  /// Returns whether an SSRC in feedback belongs to this track.
  package func owns(_ ssrc: UInt32) -> Bool { ssrc == stream.ssrc || ssrc == repair?.ssrc }

  /// Applies the section's new settings; sequence numbers and timestamps continue.
  package mutating func reconfigure(_ media: NegotiatedMedia) {
    if self.media.sends != media.sends { (needsKeyframe, sentOfGroup) = (true, 0) }
    self.media = media
    setFormat(media.format(of: format.codec, profile: format.profile) ?? media.format(of: format.codec) ?? media.format)
    extensions = RTPHeaderExtensions()
    if let mid = media.mid { extensions.setText(mid, media.extensions.mid) }
    extensions.setAbsoluteSendTime(0, media.extensions.absoluteSendTime)
    extensions.setTransportSequenceNumber(0, media.extensions.transportSequenceNumber)
  }

  /// Continues the sequence numbers and timestamps of sources that sent before.
  mutating func resume(_ streams: [UInt32: RTPStreamSender]) {
    if let former = streams[stream.ssrc] { stream = former }
    if let repair, let former = streams[repair.ssrc] { self.repair = former }
    setFormat(format)
  }

  /// Returns whether the section's formats include a codec.
  package func canSend(_ codec: Codec) -> Bool { codec == format.codec || media.format(of: codec) != nil }

  /// Uses the format of a frame: that of its codec and, where the section has several, of the profile of its keyframe.
  mutating func useFormat(of frame: EncodedFrame) {
    useFormat(of: frame.codec)
    guard frame.isKeyframe else { return }
    lacksProfile = false
    guard format.profile != nil, let bitstream = frame.codec.properties.bitstream,
      let profile = bitstream.profileParameter(of: frame.payload)
    else { return }
    let new = media.format(of: frame.codec, profile: profile)
    lacksProfile = new == nil
    guard let new, new != format else { return }
    // Payload types of retransmissions are those of the format.
    history.forget()
    setFormat(new)
  }

  /// Uses the format of a codec that the section has.
  private mutating func useFormat(of codec: Codec) {
    guard codec != format.codec, let new = media.format(of: codec) else { return }
    var generator = SplitMix64(seed: UInt64(stream.ssrc))
    payloadWriter = PayloadWriter(codec, using: &generator)
    changeClockRate(from: format.codec.clockRate, to: codec.clockRate)
    (needsKeyframe, sentOfGroup) = (true, 0)
    // A retransmission of an earlier packet would have the payload type of the new format.
    history.forget()
    setFormat(new)
  }

  /// Converts the positions of the last frames to another clock.
  private mutating func changeClockRate(from old: Int32, to new: Int32) {
    guard old != new else { return }
    func convert(_ ticks: Int64) -> Int64 {
      let (whole, rest) = ticks.quotientAndRemainder(dividingBy: Int64(old))
      return whole &* Int64(new) &+ rest * Int64(new) / Int64(old)
    }
    lastTicks = lastTicks.map(convert)
    lastFrameTicks = lastFrameTicks.map(convert)
    frameInterval = convert(frameInterval)
    reporter.clockRate = new
  }

  private mutating func setFormat(_ new: MediaFormat) {
    format = new
    payloadWriter.setPacketizationMode(new.h264?.packetizationMode ?? 1)
    stream.payloadType = new.payloadType
    if let payloadType = new.retransmissionPayloadType { repair?.payloadType = payloadType }
  }

  /// Returns the timestamp of a position on the timeline, for sender reports.
  package func timestamp(ticks: Int64) -> UInt32 { stream.timestamp(ticks: ticks) }
}

/// How a participant's keyframe request is answered.
public enum KeyframeResponse: Sendable, Hashable {
  /// The frames since the last keyframe are replayed, as fast as the path carries them: for a recorded source, which cannot
  /// make a keyframe. If the path cannot carry them within a second, frames are skipped up to the next keyframe.
  case replay
  /// The source makes a keyframe: nothing is replayed, and a late viewer begins with a new keyframe.
  case requestFromSource
}

/// Assigns transport-wide sequence numbers to every packet that leaves, over all sources of the transport
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

/// The statistics of sent media, and what the receiver reports about it.
package struct SendStatistics: Sendable, Hashable {
  /// RTP packets, retransmissions included.
  package var packetsSent: UInt64 = 0
  /// RTP payload bytes, retransmissions included.
  package var bytesSent: UInt64 = 0
  /// Packets that were retransmitted on request.
  package var packetsRetransmitted: UInt64 = 0
  /// Frames sent, replays included.
  package var framesSent: UInt64 = 0
  /// Frames that were not sent: before the transport was ready, before a keyframe, or because the path was congested.
  package var framesSkipped: UInt64 = 0
  /// Received keyframe requests, including those too soon after another.
  package var keyframeRequests: UInt64 = 0
  /// How often the group of pictures was replayed.
  package var groupsReplayed: UInt64 = 0
  /// The fraction of packets that the receiver last reported as lost, 0 to 1; the maximum over all tracks.
  package var fractionLost: Double = 0
  /// The receiver's cumulative count of lost packets.
  package var packetsLost: Int64 = 0
  /// The receiver's reports on what we sent, one for each track.
  package var receptionReports: UInt64 = 0
  /// The receiver's limit in bits a second (REMB), if it sent one.
  package var maximumBitrate: UInt64?

  /// The target bitrate that was last reported to the source, in bits a second.
  package var targetBitrate: Int?

  package init() {}
}

/// The frames since the last keyframe: everything that a viewer needs to decode the current frame.
///
/// A value that shares its frames' bytes with all copies, so a copy for each viewer's session is cheap.
package struct GroupOfPicturesCache: Sendable {
  package static let maximumFrames = 1_000
  /// A viewer needs some seconds to decode more, and is behind when it has.
  package static let maximumDuration: Duration = .seconds(10)
  package static let maximumBytes = 16 << 20

  /// The frames from the keyframe on; empty while there is none, or when the group has become too long to be replayed.
  package private(set) var frames: [EncodedFrame] = []
  /// The size of the frames in bytes.
  package private(set) var byteCount = 0

  package init() {}

  package var isEmpty: Bool { frames.isEmpty }

  /// Adds the next video frame.
  package mutating func add(_ frame: EncodedFrame) {
    if let last = frames.last, last.codec != frame.codec { clear() }
    if frame.isKeyframe {
      clear()
    } else if frames.isEmpty {
      return
    }
    frames.append(frame)
    byteCount += frame.payload.readableBytes
    if frames.count > Self.maximumFrames || byteCount > Self.maximumBytes || isTooLong { clear() }
  }

  private var isTooLong: Bool {
    guard let first = frames.first?.time, let last = frames.last?.time else { return false }
    return (last.ticks &- first.ticks) / Int64(last.rate) >= Self.maximumDuration.components.seconds
  }

  package mutating func clear() {
    frames.removeAll(keepingCapacity: true)
    byteCount = 0
  }
}
