public import NIOCore

/// One encoded video frame or one audio packet: what the peer, the recorder and the sources exchange.
public struct EncodedFrame: Sendable, Hashable {
  /// The participant who sent it.
  public var owner: ParticipantID
  /// The number of the participant's stream that its track belongs to, from 1.
  public var stream: Int
  public var codec: Codec {
    didSet { header = FrameHeader(parsing: payload, of: codec) }
  }
  /// The presentation time, in ticks of the codec's clock. Frames come in decoding order, so that of a frame of H.264 or H.265 may be
  /// before that of an earlier one, by at most a second (B-frames).
  public var time: MediaTime
  /// The bitstream: a whole video frame or a whole audio packet. No module alters it.
  public var payload: ByteBuffer {
    didSet { header = FrameHeader(parsing: payload, of: codec) }
  }
  /// What the bitstream says about the frame.
  package private(set) var header: FrameHeader
  /// Whether it can be decoded without an earlier frame. Always true for audio.
  public var isKeyframe: Bool
  /// How a video frame is turned before it is shown.
  public var orientation = VideoOrientation.upright
  /// The size of a video keyframe; nil for every other frame.
  public var size: VideoSize?
  /// When its last packet arrived, or when a frame of a file was due.
  public var arrival: ContinuousClock.Instant {
    get { arrived.instant }
    set { arrived = MonotonicInstant(newValue) }
  }
  /// ``arrival`` in a type of fixed layout.
  package var arrived: MonotonicInstant
  /// What is missing between the previous frame of the track and this one; nil if nothing is.
  public var gap: MediaGap?
  /// Whether it is shown before a frame that came earlier, so that ``time`` goes back by its sender's intent.
  package var isReordered = false

  /// The profile and level of the frame's bitstream as in RFC 6381, 3.3, for example `avc1.42e01f`; nil if the frame does not say them:
  /// for audio, for codecs without profiles, and for all but keyframes.
  package var profile: String? { isKeyframe ? codec.properties.bitstream?.profile(of: payload) : nil }

  /// The track that it belongs to.
  public var track: TrackID { TrackID(of: owner, stream: stream, kind: codec.kind) }

  /// Creates a frame and parses its header.
  public init(
    owner: ParticipantID, stream: Int = 1, codec: Codec, time: MediaTime, payload: ByteBuffer, isKeyframe: Bool,
    size: VideoSize? = nil, arrival: ContinuousClock.Instant, gap: MediaGap? = nil
  ) {
    self.init(
      owner: owner, stream: stream, codec: codec, time: time, payload: payload,
      header: FrameHeader(parsing: payload, of: codec), isKeyframe: isKeyframe, size: size,
      arrived: MonotonicInstant(arrival), gap: gap)
  }

  /// Creates a frame whose header has been parsed already.
  package init(
    owner: ParticipantID, stream: Int = 1, codec: Codec, time: MediaTime, payload: ByteBuffer, header: FrameHeader,
    isKeyframe: Bool, size: VideoSize? = nil, arrived: MonotonicInstant, gap: MediaGap? = nil
  ) {
    self.header = header
    self.owner = owner
    self.stream = stream
    self.codec = codec
    self.time = time
    self.payload = payload
    self.isKeyframe = isKeyframe
    self.size = size
    self.arrived = arrived
    self.gap = gap
  }
}

/// A frame's width and height in pixels.
public struct VideoSize: Sendable, Hashable, CustomStringConvertible {
  public var width: Int
  public var height: Int

  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// For example `640x480`.
  public var description: String { "\(width)x\(height)" }
}

/// Why a track has a gap between two of its frames, and how much is missing.
public struct MediaGap: Sendable, Hashable {
  public enum Reason: String, Sendable, Hashable, Codable, CaseIterable {
    /// Packets never arrived and were given up.
    case lost
    /// Packets arrived only after they had been requested again, so frames were delayed; nothing is missing.
    case recoveredLate
    /// The sender discarded the rest of a frame that it had begun to send, as libwebrtc does when a keyframe follows: no
    /// packet is missing.
    case senderDiscarded
    /// Frames that depend on a missing one were skipped until a keyframe.
    case waitingForKeyframe
    /// The sender paused: its sequence numbers continue without a gap.
    case senderPaused
    /// The sender skipped silence (discontinuous transmission, RFC 6716, 2.1.9).
    case dtx
    /// The sender's description said that it does not send (RFC 8829, 5.2.2).
    case muted
    /// The participant's description no longer had the stream, for example a screen that is not shared for a time.
    case streamEnded
    /// The connection was interrupted, or the sender restarted.
    case reconnect
    /// The disk failed or was slow, and its memory buffer was full.
    case diskStalled
    /// The processor had no time to read the packets, or to process the frames until their memory was full.
    case overloaded
    /// More arrived at once than fits into the memory for queued frames, although the disk and the processor kept up.
    case memoryFull
    /// The recording was paused, for example because the user did not consent.
    case paused

    /// Whether frames are missing that arrived and that the receiver could not keep.
    package var isOfRecorder: Bool {
      switch self {
      case .diskStalled, .overloaded, .memoryFull: true
      case .lost, .recoveredLate, .senderDiscarded, .waitingForKeyframe, .senderPaused, .dtx, .muted, .streamEnded,
        .reconnect, .paused:
        false
      }
    }
  }

  public var reason: Reason
  /// Packets that were given up.
  public var packetsLost: Int
  /// Frames that arrived, whole or in part, but could not be used.
  public var framesDropped: Int
  /// How long the frame after the gap was delayed by waiting for missing packets.
  public var delay: Duration

  public init(_ reason: Reason, packetsLost: Int = 0, framesDropped: Int = 0, delay: Duration = .zero) {
    self.reason = reason
    self.packetsLost = packetsLost
    self.framesDropped = framesDropped
    self.delay = delay
  }
}
