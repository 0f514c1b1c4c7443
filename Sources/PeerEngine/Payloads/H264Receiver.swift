import Bitstream
import Media
package import NIOCore
import RTP

/// Assembles decodable H.264 frames from a source's packets in order.
package struct H264Receiver: VideoReceiver {
  package var frames: DecodableFrameAssembler<H264FrameAssembler, H264DecodabilityTracker>

  package init(parameterSets: [ByteBuffer] = []) { frames = .init(H264FrameAssembler(parameterSets: parameterSets)) }

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
    let limit = FrameLimits.maximumSide
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
