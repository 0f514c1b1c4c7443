package import Media
package import NIOCore
import RTP

/// Assembles decodable VP8 frames from a source's packets in order.
package struct VP8Receiver: VideoReceiver {
  // Stored, like everything that each packet needs: to compute it, Swift would copy the whole value first.
  /// Whether no frame is emitted before the next keyframe.
  package private(set) var needsKeyframe = true
  /// Whether a keyframe is being assembled of which nothing is missing yet.
  package private(set) var isGatheringKeyframe = false

  private var assembler = VP8FrameAssembler()
  private var decodability = DecodabilityTracker()

  package init() {}

  /// Its descriptions have no parameter sets.
  package init(parameterSets: [ByteBuffer]) {}

  package mutating func add(_ packet: ReceivedPacket) {
    assembler.add(packet)
    isGatheringKeyframe = assembler.isGatheringKeyframe
  }

  package mutating func addLost(_ count: Int) {
    assembler.addLost(count)
    isGatheringKeyframe = false
  }

  /// Discards a frame whose end has not arrived, if nothing before that is missing: no more packets follow.
  package mutating func discardUnfinished() { assembler.discardUnfinished() }

  /// Ends the source: an incomplete frame is damaged, and decoding restarts with the next keyframe.
  package mutating func finish() {
    assembler.finish()
    isGatheringKeyframe = false
  }

  /// Requires a keyframe next.
  package mutating func restart() {
    decodability.restart()
    needsKeyframe = true
  }

  /// Removes and returns the next frame that has ended, as a reader of payloads returns it.
  package mutating func next() -> PayloadReader.Item? {
    guard let (frame, isDecodable) = popFrame() else { return nil }
    guard isDecodable else { return .dropped(.init(isWhole: frame.dependency.isComplete, isCutOff: frame.isCutOff)) }
    return .frame(
      PayloadReader.Frame(
        payload: frame.payload, header: frame.header.map(FrameHeader.video) ?? .unreadable,
        isKeyframe: frame.dependency.isKeyframe, timestamp: frame.timestamp, arrival: frame.arrival))
  }

  /// Removes and returns the next frame that has ended, and whether it may be emitted.
  package mutating func popFrame() -> (frame: VP8FrameAssembler.Frame, isDecodable: Bool)? {
    guard let frame = assembler.popFrame() else { return nil }
    let isDecodable = decodability.admit(frame.dependency)
    needsKeyframe = decodability.needsKeyframe
    return (frame, isDecodable)
  }

  /// Returns the frame size if a payload begins a usable keyframe, or nil.
  ///
  /// - Parameter payload: one RTP payload, descriptor included.
  package static func keyframeSize(in payload: ByteBuffer) -> VideoSize? {
    // Nine packets in ten are decided by their first byte: no S bit, or another partition than 0.
    guard let first = payload.getInteger(at: payload.readerIndex, as: UInt8.self), first & 0x17 == 0x10 else {
      return nil
    }
    var data = payload
    guard (try? VP8PayloadDescriptor(parsing: &data)) != nil else { return nil }
    return VP8FrameAssembler.keyframeSize(in: data)
  }

  package static func keyframeStart(in payload: ByteBuffer) -> PayloadReader.KeyframeStart? {
    keyframeSize(in: payload).map { PayloadReader.KeyframeStart(size: $0) }
  }

  /// Returns whether a payload begins a frame of any kind.
  package static func startsFrame(_ payload: ByteBuffer) -> Bool {
    payload.getInteger(at: payload.readerIndex, as: UInt8.self).map { $0 & 0x17 == 0x10 } ?? false
  }
}
