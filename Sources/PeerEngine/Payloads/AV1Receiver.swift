import Bitstream
import Media
package import NIOCore
import RTP

/// Assembles decodable AV1 temporal units from a source's packets in order.
package struct AV1Receiver: VideoReceiver {
  // Stored, like everything that each packet needs: to compute it, Swift would copy the whole value first.
  /// Whether no frame is emitted before the next keyframe.
  package private(set) var needsKeyframe = true
  /// Whether a keyframe is being assembled of which nothing is missing yet.
  package private(set) var isGatheringKeyframe = false

  private var assembler = AV1FrameAssembler()
  private var decodability = AV1DecodabilityTracker()
  /// The templates of the dependency descriptors.
  private var structure: FrameDependencyStructure?

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

  /// Discards a temporal unit whose end has not arrived, if nothing before that is missing: no more packets follow.
  package mutating func discardUnfinished() { assembler.discardUnfinished() }

  /// Ends the source: an incomplete temporal unit is damaged, and decoding restarts with the next keyframe.
  package mutating func finish() {
    assembler.finish()
    isGatheringKeyframe = false
  }

  /// Requires a keyframe next, of a source whose sequence header has not arrived yet.
  package mutating func restart() {
    assembler.restart()
    decodability.restart()
    structure = nil
    needsKeyframe = true
  }

  /// Removes and returns the next temporal unit that has ended, as a reader of payloads returns it.
  package mutating func next() -> PayloadReader.Item? {
    guard let (frame, isDecodable) = popFrame() else { return nil }
    guard isDecodable else { return .dropped(.init(isWhole: frame.dependency.isComplete, isCutOff: frame.isCutOff)) }
    let isKeyframe = frame.dependency.isKeyframe
    return .frame(
      PayloadReader.Frame(
        payload: frame.payload,
        header: .video(VideoHeader(isKeyframe: isKeyframe, size: frame.size, isShown: frame.isShown)),
        isKeyframe: isKeyframe, timestamp: frame.timestamp, arrival: frame.arrival))
  }

  /// Removes and returns the next temporal unit that has ended, and whether it may be emitted.
  package mutating func popFrame() -> (frame: AV1FrameAssembler.Frame, isDecodable: Bool)? {
    guard var frame = assembler.popFrame() else { return nil }
    readDependencies(of: &frame)
    let isDecodable = decodability.admit(frame.dependency)
    needsKeyframe = decodability.needsKeyframe
    return (frame, isDecodable)
  }

  /// Reads the dependency descriptors of a temporal unit, unless one is missing or its templates are unknown.
  private mutating func readDependencies(of frame: inout AV1FrameAssembler.Frame) {
    var layers: [AV1DecodabilityTracker.Dependencies] = []
    for (index, bytes) in frame.dependencyDescriptors.enumerated() {
      guard let descriptor = try? DependencyDescriptor(parsing: ByteBuffer(bytes: bytes), structure: structure) else {
        return
      }
      if let new = descriptor.structure { structure = new }
      if index == 0, frame.dependency.packetsLostBefore > 0, !descriptor.startsFrame {
        frame.dependency.isComplete = frame.dependency.isKeyframe
      }
      layers.append(
        .init(
          number: descriptor.frameNumber, spatialLayer: descriptor.dependencies.spatialLayer,
          temporalLayer: descriptor.dependencies.temporalLayer, differences: descriptor.dependencies.frameDifferences))
    }
    frame.dependency.layers = layers
  }

  package static var usesDependencyDescriptor: Bool { true }

  /// Returns what is known of a keyframe that a payload begins; nil if it begins none.
  ///
  /// A keyframe begins with its sequence header, which tells its size, and shows a key frame, unless that is in the next packet.
  package static func keyframeStart(in payload: ByteBuffer) -> PayloadReader.KeyframeStart? {
    // Most packets are decided by their first byte: they continue an OBU; or by the OBU after it.
    guard let first = payload.getInteger(at: payload.readerIndex, as: UInt8.self), first & 0x80 == 0,
      var content = try? AV1Payload(parsing: payload)
    else { return nil }
    var sequence: AV1SequenceHeader?
    while let element = try? content.nextElement() {
      guard let header = element.bytes.getInteger(at: element.bytes.readerIndex, as: UInt8.self) else { return nil }
      let type = AV1OBU.Kind(header: header)
      if sequence == nil {
        guard type == .sequenceHeader || type == .temporalDelimiter || type == .metadata || type == .padding else {
          return nil
        }
      }
      guard type == .sequenceHeader || type.beginsFrame else { continue }
      var bytes = element.bytes
      // Of a frame in fragments, the size is not known.
      if type.beginsFrame, let sequence {
        guard beginsKeyFrame(bytes, isReduced: sequence.isReducedStillPicture) else { return nil }
        break
      }
      guard let unit = try? AV1OBU(parsing: &bytes), let parsed = try? AV1SequenceHeader(parsing: unit.payload) else {
        return nil
      }
      sequence = parsed
    }
    let limit = AV1FrameAssembler.maximumSide
    guard let size = sequence?.maximumSize, size.width <= limit, size.height <= limit else { return nil }
    return .init(size: VideoSize(width: size.width, height: size.height))
  }

  /// Returns whether the beginning of a frame OBU, or of a frame header OBU, is that of a key frame that is shown.
  private static func beginsKeyFrame(_ bytes: ByteBuffer, isReduced: Bool) -> Bool {
    if isReduced { return true }
    var rest = bytes
    guard let header = rest.readInteger(as: UInt8.self) else { return false }
    if header & AV1OBU.extensionBit != 0, rest.readInteger(as: UInt8.self) == nil { return false }
    if header & AV1OBU.sizeBit != 0, (try? LEB128.read("An OBU's size", from: &rest)) == nil { return false }
    return (try? AV1FrameHeader.Start(parsing: rest))?.isShownKeyFrame ?? false
  }

  /// Returns whether a payload begins a temporal unit of any kind, if no spatial layer is left out.
  package static func startsFrame(_ payload: ByteBuffer) -> Bool {
    guard var content = try? AV1Payload(parsing: payload), !content.continues,
      let element = try? content.nextElement(),
      let header = element.bytes.getInteger(at: element.bytes.readerIndex, as: UInt8.self)
    else { return false }
    switch AV1OBU.Kind(header: header) {
    case .temporalDelimiter, .sequenceHeader: return true
    case .frame, .frameHeader, .metadata:
      guard header & AV1OBU.extensionBit != 0 else { return true }
      let layers = element.bytes.getInteger(at: element.bytes.readerIndex + 1, as: UInt8.self) ?? 0
      return layers >> 3 & 0x03 == 0
    default: return false
    }
  }
}
