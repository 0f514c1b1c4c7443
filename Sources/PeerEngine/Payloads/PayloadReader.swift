package import Bitstream
package import Media
package import NIOCore

/// Turns the payloads of a source's packets, in order, into frames: the one place where a track that receives chooses by codec.
///
/// Each packet is passed to ``add(_:)`` once, in the order of the sequence numbers, and each run that is missing to ``addLost(_:)``.
/// Frames come out of ``next()`` in the same order, each as a decoder needs it; one that is damaged, or depends on one that is, is
/// only noted as dropped. No payload is an error: one that cannot be parsed damages its frame.
///
/// It has one receiver of video behind a protocol and is no enum with one in each case, because Swift would copy a case's value, the frame
/// that is being assembled, to change it: for each packet. What is behind the protocol is changed in its place.
package struct PayloadReader: Sendable {
  /// What the packets so far have completed.
  package enum Item: Sendable {
    case frame(Frame)
    /// A frame that cannot be decoded.
    case dropped(DroppedFrame)
  }

  /// A frame that can be decoded.
  package struct Frame: Sendable {
    /// The bitstream.
    package var payload: ByteBuffer
    /// Its parsed header.
    package var header: FrameHeader
    /// Whether it can be decoded without an earlier frame.
    package var isKeyframe: Bool
    /// The duration of an audio packet in ticks of the codec's clock; 0 for video.
    package var duration = 0
    /// Whether it only signals that the sender is silent.
    package var isSilence = false
    /// Whether the sender said, outside the payload, that it was silent before this packet of audio.
    package var startsTalkspurt = false
    /// Where a frame of video is shown, if its codec can reorder frames; nil if that is not known.
    package var order: PictureOrder?
    /// The RTP timestamp.
    package var timestamp: UInt32
    /// When its last packet arrived.
    package var arrival: MonotonicInstant
  }

  /// The beginning of a keyframe.
  package struct KeyframeStart: Sendable, Hashable {
    /// The frame size; nil if the payload does not tell it.
    package var size: VideoSize?
    /// Whether no packet of the keyframe precedes this one.
    package var isFirst: Bool

    /// - Parameter isFirst: by default, a payload that tells the size is the first one.
    package init(size: VideoSize?, isFirst: Bool? = nil) {
      self.size = size
      self.isFirst = isFirst ?? (size != nil)
    }
  }

  private let codec: Codec
  /// Nil for audio.
  private var video: (any VideoReceiver)?
  /// The last packet of audio until it is read.
  private var audio: Item?

  /// - Parameter parameterSets: those of H.264 or H.265 in the description, each a NAL unit.
  package init(_ codec: Codec, parameterSets: [ByteBuffer] = []) {
    self.codec = codec
    video = codec.video?.receiver.init(parameterSets: parameterSets)
  }

  /// Replaces the parameter sets of the description.
  package mutating func setDescribed(_ parameterSets: [ByteBuffer]) { video?.setDescribed(parameterSets) }

  // Members that are called for each packet are `mutating`, although some change nothing, because Swift copies a value of this size
  // before a nonmutating call.

  /// Adds the next packet; call ``next()`` until it returns nil after each.
  package mutating func add(_ packet: ReceivedPacket) {
    if video?.add(packet) == nil { audio = Self.readAudio(packet, of: codec) }
  }

  /// Notes that the next `count` packets were given up.
  package mutating func addLost(_ count: Int) { video?.addLost(count) }

  /// Removes and returns the next frame that has ended.
  package mutating func next() -> Item? { video?.next() ?? audio.take() }

  /// Whether no frame is emitted before the next keyframe.
  package var needsKeyframe: Bool {
    mutating get { video?.needsKeyframe ?? false }
  }

  /// Whether a keyframe is being assembled of which nothing is missing yet.
  package var isGatheringKeyframe: Bool {
    mutating get { video?.isGatheringKeyframe ?? false }
  }

  /// Discards a frame whose end has not arrived, if nothing before that is missing: no more packets follow.
  package mutating func discardUnfinished() { video?.discardUnfinished() }

  /// Ends the source: an incomplete frame is damaged.
  package mutating func finish() { video?.finish() }

  /// Begins another source: a frame that depends on others is not emitted before the next keyframe.
  package mutating func restart() { video?.restart() }

  /// Returns what a packet of audio contains; nil for an empty one.
  private static func readAudio(_ packet: ReceivedPacket, of codec: Codec) -> Item? {
    guard packet.payload.readableBytes > 0 else { return nil }
    // A packet with a known duration is emitted, even if it cannot be decoded.
    let header = FrameHeader(parsing: packet.payload, of: codec)
    guard let duration = FrameHeader.ticks(of: packet.payload, codec, header: header) else {
      return .dropped(.damaged)
    }
    // Copied, because a frame is kept for long, and the datagram's buffer is needed for the next one.
    let payload = ByteBuffer(bytes: packet.payload.readableBytesView)
    return .frame(
      Frame(
        payload: payload, header: header, isKeyframe: true, duration: duration,
        isSilence: isSilence(payload, of: codec), startsTalkspurt: startsTalkspurt(packet, of: codec),
        timestamp: packet.timestamp, arrival: packet.arrival))
  }
}

/// Silence, which a sender need not send.
extension PayloadReader {
  /// Returns whether a packet of audio only signals that the sender is silent: Opus has such packets.
  private static func isSilence(_ payload: ByteBuffer, of codec: Codec) -> Bool {
    switch codec.audio {
    case .opus: payload.readableBytes <= 2
    case .g722, .pcmu, .pcma, nil: false
    }
  }

  /// Returns whether a packet is the first one after silence, which G.711 and G.722 signal by the marker only (RFC 3551, 4.1). Senders
  /// of Opus set the marker for other reasons as well.
  private static func startsTalkspurt(_ packet: ReceivedPacket, of codec: Codec) -> Bool {
    switch codec.audio {
    case .g722, .pcmu, .pcma: packet.marker
    case .opus, nil: false
    }
  }
}

/// What a single payload shows.
extension PayloadReader {
  /// Returns what a payload shows of a usable keyframe of video that it begins, or nil.
  ///
  /// - Parameter payload: one RTP payload, descriptor included.
  package static func keyframeStart(in payload: ByteBuffer, of codec: Codec) -> KeyframeStart? {
    codec.video?.receiver.keyframeStart(in: payload)
  }

  /// Returns whether a payload begins a frame of any kind.
  package static func startsFrame(_ payload: ByteBuffer, of codec: Codec) -> Bool {
    codec.video?.receiver.startsFrame(payload) ?? true
  }

  /// Returns whether the reader of a codec needs the dependency descriptors of the packets.
  package static func usesDependencyDescriptor(_ codec: Codec) -> Bool {
    codec.video?.receiver.usesDependencyDescriptor ?? false
  }
}
