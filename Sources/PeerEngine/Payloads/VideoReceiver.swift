import Media
package import NIOCore

/// Assembles decodable frames of one codec of video from a source's packets in order.
///
/// The members that a packet needs are called through a protocol, which costs some nanoseconds and copies nothing.
package protocol VideoReceiver: Sendable {
  /// - Parameter parameterSets: NAL units from the description, for codecs that have them there.
  init(parameterSets: [ByteBuffer])

  /// Whether no frame is emitted before the next keyframe.
  var needsKeyframe: Bool { get }
  /// Whether a keyframe is being assembled of which nothing is missing yet.
  var isGatheringKeyframe: Bool { get }

  /// Adds the next packet.
  mutating func add(_ packet: ReceivedPacket)
  /// Notes that the next `count` packets were given up.
  mutating func addLost(_ count: Int)
  /// Removes and returns the next frame that has ended.
  mutating func next() -> PayloadReader.Item?
  /// Replaces the parameter sets of the description.
  mutating func setDescribed(_ parameterSets: [ByteBuffer])
  /// Discards a frame whose end has not arrived, if nothing before that is missing: no more packets follow.
  mutating func discardUnfinished()
  /// Ends the source: an incomplete frame is damaged, and decoding restarts with the next keyframe.
  mutating func finish()
  /// Requires a keyframe next: another source begins.
  mutating func restart()

  /// Returns what is known of a usable keyframe that a payload begins; nil if it begins none.
  ///
  /// - Parameter payload: one RTP payload, descriptor included.
  static func keyframeStart(in payload: ByteBuffer) -> PayloadReader.KeyframeStart?
  /// Returns whether a payload begins a frame of any kind.
  static func startsFrame(_ payload: ByteBuffer) -> Bool
  /// Whether it needs the dependency descriptors of the packets.
  static var usesDependencyDescriptor: Bool { get }
}

extension VideoReceiver {
  package mutating func setDescribed(_ parameterSets: [ByteBuffer]) {}
  package static var usesDependencyDescriptor: Bool { false }
}

/// Turns frames of one codec of video into RTP payloads.
package protocol VideoSender: Sendable {
  /// - Parameter first: a random number, for codecs that number their frames.
  init(first: UInt16)

  /// Follows the packetization mode of H.264 that was negotiated (RFC 6184, 6.2): in mode 0 each NAL unit has a payload of its own.
  mutating func setPacketizationMode(_ mode: UInt8)

  /// Returns the payloads of the next frame, descriptors included, in order.
  ///
  /// - Parameter maximumSize: the maximum size of a payload in bytes.
  mutating func split(_ frame: ByteBuffer, maximumSize: Int) -> [ByteBuffer]
}

extension VideoSender {
  package mutating func setPacketizationMode(_ mode: UInt8) {}
}

extension VideoCodec {
  /// What assembles the codec's frames.
  var receiver: any VideoReceiver.Type {
    switch self {
    case .vp8: VP8Receiver.self
    case .h264: H264Receiver.self
    case .vp9: VP9Receiver.self
    case .av1: AV1Receiver.self
    case .h265: H265Receiver.self
    }
  }

  /// What makes payloads of the codec's frames.
  var sender: any VideoSender.Type {
    switch self {
    case .vp8: VP8Sender.self
    case .h264: H264Sender.self
    case .vp9: VP9Sender.self
    case .av1: AV1Sender.self
    case .h265: H265Sender.self
    }
  }
}
