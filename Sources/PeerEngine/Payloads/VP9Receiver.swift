import Bitstream
package import Media
package import NIOCore
import RTP

/// Assembles decodable VP9 pictures from a source's packets in order.
///
/// It changes a received frame in one way only: of a picture with spatial layers, the lower ones are marked as not shown (see
/// `VP9Superframe.hideLowerLayers(references:)`).
package struct VP9Receiver: VideoReceiver {
  // Stored, like everything that each packet needs: to compute it, Swift would copy the whole value first.
  /// Whether no frame is emitted before the next keyframe.
  package private(set) var needsKeyframe = true
  /// Whether a keyframe is being assembled of which nothing is missing yet.
  package private(set) var isGatheringKeyframe = false

  private var assembler = VP9FrameAssembler()
  private var decodability = VP9DecodabilityTracker()
  /// The sizes of the references of a decoder of the frames emitted so far.
  private var references = VP9ReferenceSizes()

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

  /// Discards a picture whose end has not arrived, if nothing before that is missing: no more packets follow.
  package mutating func discardUnfinished() { assembler.discardUnfinished() }

  /// Ends the source: an incomplete picture is damaged, and decoding restarts with the next keyframe.
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
    let isKeyframe = frame.dependency.isKeyframe
    let header = VideoHeader(
      isKeyframe: isKeyframe, size: frame.size, isShown: frame.isShown, hiddenLayers: frame.hiddenLayers)
    return .frame(
      PayloadReader.Frame(
        payload: frame.payload, header: .video(header), isKeyframe: isKeyframe, timestamp: frame.timestamp,
        arrival: frame.arrival))
  }

  /// Removes and returns the next picture that has ended, and whether it may be emitted.
  package mutating func popFrame() -> (frame: VP9FrameAssembler.Frame, isDecodable: Bool)? {
    guard var frame = assembler.popFrame() else { return nil }
    let isDecodable = decodability.admit(frame.dependency)
    needsKeyframe = decodability.needsKeyframe
    if isDecodable { hideLowerLayers(of: &frame) }
    return (frame, isDecodable)
  }

  private mutating func hideLowerLayers(of frame: inout VP9FrameAssembler.Frame) {
    guard var superframe = try? VP9Superframe(parsing: frame.payload) else { return }
    let output = superframe.hideLowerLayers(references: &references)
    frame.hiddenLayers = output.hiddenFrames
    // VP9 changes its size without a keyframe, too.
    frame.size = output.size.map { VideoSize(width: $0.width, height: $0.height) } ?? frame.size
    guard frame.hiddenLayers > 0 else { return }
    frame.payload = ByteBuffer()
    frame.payload.reserveCapacity(superframe.maximumByteCount)
    superframe.write(into: &frame.payload)
  }

  /// Returns the frame size if a payload begins a usable keyframe, or nil.
  ///
  /// With spatial layers, the keyframe itself has only the lowest one. Then the size is that of the highest layer, if the
  /// scalability structure states it.
  ///
  /// - Parameter payload: one RTP payload, descriptor included.
  package static func keyframeSize(in payload: ByteBuffer) -> VideoSize? {
    // Nine packets in ten are decided by their first byte: no B bit, or predicted from other pictures.
    guard let first = payload.getInteger(at: payload.readerIndex, as: UInt8.self), first & 0x48 == 0x08 else {
      return nil
    }
    var data = payload
    guard let descriptor = try? VP9PayloadDescriptor(parsing: &data), descriptor.startsPicture,
      let lowest = VP9FrameAssembler.keyframeSize(in: data)
    else { return nil }
    let limit = UInt16(VP9FrameAssembler.maximumSide)
    guard let highest = descriptor.structure?.sizes?.last, (1...limit).contains(highest.width),
      (1...limit).contains(highest.height)
    else { return lowest }
    return VideoSize(width: Int(highest.width), height: Int(highest.height))
  }

  package static func keyframeStart(in payload: ByteBuffer) -> PayloadReader.KeyframeStart? {
    keyframeSize(in: payload).map { PayloadReader.KeyframeStart(size: $0) }
  }

  /// Returns whether a payload begins a picture of any kind.
  package static func startsFrame(_ payload: ByteBuffer) -> Bool {
    guard let first = payload.getInteger(at: payload.readerIndex, as: UInt8.self), first & 0x08 != 0 else {
      return false
    }
    // Without layer indices there is only one frame in a picture.
    guard first & 0x20 != 0 else { return true }
    var data = payload
    return (try? VP9PayloadDescriptor(parsing: &data))?.startsPicture ?? false
  }
}
