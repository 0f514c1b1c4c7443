import Media
package import NIOCore

/// Assembles decodable frames of one codec of video from a source's packets in order.
///
/// The members that a packet needs are called through this protocol, which costs some nanoseconds and copies nothing. A codec's receiver
/// has them from the extension below, which Swift compiles for each receiver. It is no generic struct over an assembler and a tracker,
/// because Swift does not specialize what is called through a protocol on a generic type: each call of the assembler would then go through
/// a protocol as well.
package protocol VideoReceiver: Sendable {
  associatedtype Assembler: FrameAssembler
  associatedtype Tracker: DecodabilityTracker where Tracker.Frame == Assembler.Dependency

  var frames: DecodableFrameAssembler<Assembler, Tracker> { get set }

  /// - Parameter parameterSets: NAL units from the description, for codecs that have them there.
  init(parameterSets: [ByteBuffer])

  /// Changes a frame that can be decoded to what is emitted.
  mutating func prepare(_ frame: inout AssembledFrame<Assembler.Dependency>)

  // Getters are `mutating`, because Swift copies a value of this size before a nonmutating call.
  /// Whether no frame is emitted before the next keyframe.
  var needsKeyframe: Bool { mutating get }
  /// Whether a keyframe is being assembled of which nothing is missing yet.
  var isGatheringKeyframe: Bool { mutating get }

  /// Adds the next packet.
  mutating func add(_ packet: ReceivedPacket)
  /// Notes that the next `count` packets were given up.
  mutating func addLost(_ count: Int)
  /// Removes and returns the next frame that has ended, as a reader of payloads returns it.
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
  package mutating func prepare(_ frame: inout AssembledFrame<Assembler.Dependency>) {}
  package static var usesDependencyDescriptor: Bool { false }

  package var needsKeyframe: Bool {
    mutating get { frames.needsKeyframe }
  }
  package var isGatheringKeyframe: Bool {
    mutating get { frames.isGatheringKeyframe }
  }

  package mutating func add(_ packet: ReceivedPacket) { frames.add(packet) }
  package mutating func addLost(_ count: Int) { frames.addLost(count) }
  package mutating func setDescribed(_ parameterSets: [ByteBuffer]) { frames.setDescribed(parameterSets) }
  package mutating func discardUnfinished() { frames.discardUnfinished() }
  package mutating func finish() { frames.finish() }
  package mutating func restart() { frames.restart() }

  package mutating func next() -> PayloadReader.Item? {
    guard let (frame, isDecodable) = popFrame() else { return nil }
    guard isDecodable else { return .dropped(.init(isWhole: frame.dependency.isComplete, isCutOff: frame.isCutOff)) }
    return .frame(
      PayloadReader.Frame(
        payload: frame.payload, header: frame.header.map(FrameHeader.video) ?? .unreadable,
        isKeyframe: frame.dependency.isKeyframe, order: frame.order, timestamp: frame.timestamp, arrival: frame.arrival)
    )
  }

  /// Removes and returns the next frame that has ended, and whether it may be emitted.
  package mutating func popFrame() -> (frame: AssembledFrame<Assembler.Dependency>, isDecodable: Bool)? {
    guard var next = frames.popFrame() else { return nil }
    if next.isDecodable { prepare(&next.frame) }
    return next
  }
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
