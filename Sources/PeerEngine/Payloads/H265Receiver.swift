import Bitstream
import Media
package import NIOCore
import RTP

/// Assembles decodable H.265 frames from a source's packets in order.
package struct H265Receiver: VideoReceiver {
  // Stored, like everything that each packet needs: to compute it, Swift would copy the whole value first.
  /// Whether no frame is emitted before the next keyframe.
  package private(set) var needsKeyframe = true
  /// Whether a keyframe is being assembled of which nothing is missing yet.
  package private(set) var isGatheringKeyframe = false

  private var assembler: H265FrameAssembler
  private var decodability = H265DecodabilityTracker()

  /// - Parameter parameterSets: NAL units from the description.
  package init(parameterSets: [ByteBuffer] = []) {
    assembler = H265FrameAssembler(parameterSets: parameterSets)
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
    needsKeyframe = true
  }

  /// Removes and returns the next frame that has ended, as a reader of payloads returns it.
  package mutating func next() -> PayloadReader.Item? {
    guard let (frame, isDecodable) = popFrame() else { return nil }
    guard isDecodable else { return .dropped(.init(isWhole: frame.dependency.isComplete, isCutOff: frame.isCutOff)) }
    let isKeyframe = frame.dependency.isKeyframe
    return .frame(
      PayloadReader.Frame(
        payload: frame.payload,
        header: .video(
          VideoHeader(
            isKeyframe: isKeyframe, size: frame.size, isShown: frame.dependency.isShown,
            isSkippedLeading: frame.dependency.type.isSkippedLeading,
            leading: H265Bitstream.leading(after: frame.dependency.type))),
        isKeyframe: isKeyframe, order: frame.order, timestamp: frame.timestamp, arrival: frame.arrival))
  }

  /// Removes and returns the next frame that has ended, and whether it may be emitted.
  package mutating func popFrame() -> (frame: H265FrameAssembler.Frame, isDecodable: Bool)? {
    guard let frame = assembler.popFrame() else { return nil }
    let isDecodable = decodability.admit(frame.dependency)
    needsKeyframe = decodability.needsKeyframe
    return (frame, isDecodable)
  }

  /// Returns what is known of a keyframe that a payload begins; nil if it begins none.
  ///
  /// A keyframe begins with its parameter sets, the video parameter set first, and that of the sequence tells its size; or with its first
  /// slice, if the sender does not repeat them. A delimiter in front of them is a packet of its own, or begins an aggregation packet.
  package static func keyframeStart(in payload: ByteBuffer) -> PayloadReader.KeyframeStart? {
    // Nine packets in ten are decided by their first bytes.
    let start = payload.readerIndex
    guard let (header, third) = payload.getMultipleIntegers(at: start, as: (UInt16, UInt8).self) else { return nil }
    let type = H265NALUnit.Kind(header: header)
    if type.isKeyframe { return third & 0x80 != 0 ? .init(size: nil) : nil }
    switch type.rawValue {
    case 32: return .init(size: nil, isFirst: true)
    case 33: return keyframeStart(withSequence: payload, isFirst: false)
    case 49:
      // The first fragment of the first slice of a keyframe.
      guard third & 0x80 != 0, H265NALUnit.Kind(rawValue: third).isKeyframe,
        let fourth = payload.getInteger(at: start + 3, as: UInt8.self)
      else { return nil }
      return fourth & 0x80 != 0 ? .init(size: nil) : nil
    case 48: break
    default: return nil
    }
    guard case .aggregation(let units)? = try? H265Payload(parsing: payload) else { return nil }
    for unit in units {
      if unit.type == .sequenceParameterSet {
        return keyframeStart(withSequence: unit.bytes, isFirst: startsFrame(units[0]))
      }
      if unit.type.isKeyframe { return .init(size: nil) }
    }
    return nil
  }

  private static func keyframeStart(withSequence unit: ByteBuffer, isFirst: Bool) -> PayloadReader.KeyframeStart? {
    let limit = H265FrameAssembler.maximumSide
    guard let parameters = try? H265SequenceParameterSet(parsing: unit), parameters.codedSize.width <= limit,
      parameters.codedSize.height <= limit
    else { return nil }
    return .init(
      size: VideoSize(width: parameters.size.width, height: parameters.size.height), isFirst: isFirst)
  }

  /// Returns whether a payload begins a frame of any kind. A slice of a keyframe does not: its parameter sets usually precede it.
  package static func startsFrame(_ payload: ByteBuffer) -> Bool {
    guard let content = try? H265Payload(parsing: payload) else { return false }
    switch content {
    case .unit(let unit): return startsFrame(unit)
    case .aggregation(let units): return units.first.map(startsFrame) ?? false
    case .fragment(let fragment):
      return fragment.isFirst && fragment.type.isSlice && !fragment.type.isKeyframe
        && fragment.bytes.getInteger(at: fragment.bytes.readerIndex, as: UInt8.self).map { $0 & 0x80 != 0 } ?? false
    }
  }

  private static func startsFrame(_ unit: H265NALUnit) -> Bool {
    switch unit.type {
    case .videoParameterSet, .accessUnitDelimiter: true
    case let type where type.isSlice && !type.isKeyframe: (try? H265SliceHeader(parsing: unit.bytes))?.isFirst ?? false
    default: false
    }
  }
}
