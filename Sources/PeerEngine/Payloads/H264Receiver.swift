import Bitstream
import Media
package import NIOCore
import RTP

/// Assembles decodable H.264 frames from a source's packets in order.
package struct H264Receiver: VideoReceiver {
  // Stored, like everything that each packet needs: to compute it, Swift would copy the whole value first.
  /// Whether no frame is emitted before the next keyframe.
  package private(set) var needsKeyframe = true
  /// Whether a keyframe is being assembled of which nothing is missing yet.
  package private(set) var isGatheringKeyframe = false

  private var assembler: H264FrameAssembler
  private var decodability = H264DecodabilityTracker()
  /// The templates of the dependency descriptors.
  private var structure: FrameDependencyStructure?

  /// - Parameter parameterSets: NAL units from the description.
  package init(parameterSets: [ByteBuffer] = []) {
    assembler = H264FrameAssembler(parameterSets: parameterSets)
  }

  package mutating func add(_ packet: ReceivedPacket) {
    assembler.add(packet)
    isGatheringKeyframe = assembler.isGatheringKeyframe
  }

  package mutating func addLost(_ count: Int) {
    assembler.addLost(count)
    isGatheringKeyframe = false
  }

  /// Replaces the parameter sets of the description.
  package mutating func setDescribed(_ parameterSets: [ByteBuffer]) { assembler.setDescribed(parameterSets) }

  /// Discards a frame whose end has not arrived, if nothing before that is missing: no more packets follow.
  package mutating func discardUnfinished() { assembler.discardUnfinished() }

  /// Ends the source: an incomplete frame is damaged, and decoding restarts with the next keyframe.
  package mutating func finish() {
    assembler.finish()
    isGatheringKeyframe = false
  }

  /// Requires a keyframe next, of a source whose parameter sets have not arrived yet.
  package mutating func restart() {
    assembler.restart()
    decodability.restart()
    structure = nil
    needsKeyframe = true
  }

  /// Removes and returns the next frame that has ended, as a reader of payloads returns it.
  package mutating func next() -> PayloadReader.Item? {
    guard let (frame, isDecodable) = popFrame() else { return nil }
    guard isDecodable else { return .dropped(.init(isWhole: frame.dependency.isComplete, isCutOff: frame.isCutOff)) }
    let isKeyframe = frame.dependency.isKeyframe
    return .frame(
      PayloadReader.Frame(
        payload: frame.payload, header: .video(VideoHeader(isKeyframe: isKeyframe, size: frame.size)),
        isKeyframe: isKeyframe, order: frame.order, timestamp: frame.timestamp, arrival: frame.arrival))
  }

  /// Removes and returns the next frame that has ended, and whether it may be emitted.
  package mutating func popFrame() -> (frame: H264FrameAssembler.Frame, isDecodable: Bool)? {
    guard var frame = assembler.popFrame() else { return nil }
    frame.dependency.dependencies = dependencies(in: frame)
    let isDecodable = decodability.admit(frame.dependency)
    needsKeyframe = decodability.needsKeyframe
    return (frame, isDecodable)
  }

  /// Reads the frame's dependency descriptor; nil without one, or if its templates are unknown.
  private mutating func dependencies(in frame: H264FrameAssembler.Frame) -> H264DecodabilityTracker.Dependencies? {
    guard let bytes = frame.dependencyDescriptor,
      let descriptor = try? DependencyDescriptor(parsing: ByteBuffer(bytes: bytes), structure: structure)
    else { return nil }
    if let new = descriptor.structure { structure = new }
    return .init(
      number: descriptor.frameNumber, temporalLayer: descriptor.dependencies.temporalLayer,
      differences: descriptor.dependencies.frameDifferences)
  }

  package static var usesDependencyDescriptor: Bool { true }

  /// Returns what is known of a keyframe that a payload begins; nil if it begins none.
  ///
  /// A keyframe begins with its sequence parameter set, which tells its size; or with an IDR slice, if the sender does not repeat its
  /// parameter sets.
  package static func keyframeStart(in payload: ByteBuffer) -> PayloadReader.KeyframeStart? {
    // Nine packets in ten are decided by their first two bytes.
    let start = payload.readerIndex
    guard let (first, second) = payload.getMultipleIntegers(at: start, as: (UInt8, UInt8).self) else { return nil }
    switch first & 0x1F {
    case 7: return keyframeStart(withSequence: payload)
    case 5: return second & 0x80 != 0 ? .init(size: nil) : nil
    case 28:
      // The first fragment of an IDR slice that begins with the first macroblock.
      guard second & 0x9F == 0x85, let third = payload.getInteger(at: start + 2, as: UInt8.self) else { return nil }
      return third & 0x80 != 0 ? .init(size: nil) : nil
    case 24: break
    default: return nil
    }
    guard case .aggregation(let units)? = try? H264Payload(parsing: payload) else { return nil }
    for unit in units {
      if unit.type == .sequenceParameterSet { return keyframeStart(withSequence: unit.bytes) }
      if unit.type == .idrSlice { return .init(size: nil) }
    }
    return nil
  }

  private static func keyframeStart(withSequence unit: ByteBuffer) -> PayloadReader.KeyframeStart? {
    let limit = H264FrameAssembler.maximumSide
    guard let parameters = try? H264SequenceParameterSet(parsing: unit), parameters.codedSize.width <= limit,
      parameters.codedSize.height <= limit
    else { return nil }
    return .init(size: VideoSize(width: parameters.size.width, height: parameters.size.height))
  }

  /// Returns whether a payload begins a frame of any kind. An IDR slice does not: its parameter sets usually precede it.
  package static func startsFrame(_ payload: ByteBuffer) -> Bool {
    guard let content = try? H264Payload(parsing: payload) else { return false }
    switch content {
    case .unit(let unit): return startsFrame(unit)
    case .aggregation(let units): return units.first.map(startsFrame) ?? false
    case .fragment(let fragment):
      return fragment.isFirst && fragment.type == .slice
        && fragment.bytes.getInteger(at: fragment.bytes.readerIndex, as: UInt8.self).map { $0 & 0x80 != 0 } ?? false
    }
  }

  private static func startsFrame(_ unit: H264NALUnit) -> Bool {
    switch unit.type {
    case .sequenceParameterSet, .accessUnitDelimiter: true
    case .slice: (try? H264SliceHeader(parsing: unit.bytes))?.firstMacroblock == 0
    default: false
    }
  }
}
