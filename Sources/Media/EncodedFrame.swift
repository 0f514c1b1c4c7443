package import Bitstream
public import NIOCore

/// One encoded frame or one audio packet: the currency between peer, recorder and file.
public struct EncodedFrame: Sendable, Hashable {
  /// Who sent it.
  public var owner: ParticipantID
  public var codec: Codec {
    didSet { opus = Self.opus(of: payload, codec) }
  }
  /// When it is to be shown or heard, in ticks of the codec's clock.
  public var time: MediaTime
  /// The bitstream: a whole VP8 frame (RFC 6386) or a whole Opus packet (RFC 6716, 3). Never altered on its way.
  public var payload: ByteBuffer {
    didSet { opus = Self.opus(of: payload, codec) }
  }
  /// What a packet of Opus says of itself, read once; nil for what is none.
  package private(set) var opus: OpusPacket?
  /// Whether it can be decoded without an earlier frame. Always true of Opus.
  public var isKeyframe: Bool
  /// A VP8 keyframe's video size; nil for every other frame.
  public var size: VideoSize?
  /// When its last packet arrived, or when a file's frame was due.
  public var arrival: ContinuousClock.Instant {
    get { arrived.instant }
    set { arrived = MonotonicInstant(newValue) }
  }
  /// What ``arrival`` says.
  package var arrived: MonotonicInstant
  /// What is missing between the track's frame before it and this one; nil when it follows on.
  public var gap: MediaGap?

  public init(
    owner: ParticipantID, codec: Codec, time: MediaTime, payload: ByteBuffer, isKeyframe: Bool,
    size: VideoSize? = nil, arrival: ContinuousClock.Instant, gap: MediaGap? = nil
  ) {
    self.init(
      owner: owner, codec: codec, time: time, payload: payload, isKeyframe: isKeyframe, size: size,
      arrived: MonotonicInstant(arrival), gap: gap)
  }

  private static func opus(of payload: ByteBuffer, _ codec: Codec) -> OpusPacket? {
    codec == .opus ? try? OpusPacket(parsing: payload) : nil
  }

  package init(
    owner: ParticipantID, codec: Codec, time: MediaTime, payload: ByteBuffer, isKeyframe: Bool,
    size: VideoSize? = nil, arrived: MonotonicInstant, gap: MediaGap? = nil
  ) {
    self.init(
      owner: owner, codec: codec, time: time, payload: payload, opus: Self.opus(of: payload, codec),
      isKeyframe: isKeyframe,
      size: size, arrived: arrived, gap: gap)
  }

  /// A frame whose payload has been read already.
  package init(
    owner: ParticipantID, codec: Codec, time: MediaTime, payload: ByteBuffer, opus: OpusPacket?, isKeyframe: Bool,
    size: VideoSize? = nil, arrived: MonotonicInstant, gap: MediaGap? = nil
  ) {
    self.opus = opus
    self.owner = owner
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
