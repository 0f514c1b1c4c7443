import Bitstream
import Media
package import NIOCore
import RTP

/// Assembles decodable H.265 frames from a source's packets in order.
package struct H265Receiver: VideoReceiver {
  package var frames: DecodableFrameAssembler<H265FrameAssembler, H265DecodabilityTracker>

  package init(parameterSets: [ByteBuffer] = []) { frames = .init(H265FrameAssembler(parameterSets: parameterSets)) }

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
    let limit = FrameLimits.maximumSide
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
