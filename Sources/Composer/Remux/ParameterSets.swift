import Bitstream
import NIOCore

/// The parameter sets of a track of H.264: whether one record is enough for all of its frames, and frames without them. Pure.
struct ParameterSets {
  private let configuration: AVCDecoderConfiguration
  private let stated: Set<ByteBuffer>
  /// Whether a frame had a set that the record does not have.
  private(set) var haveChanged = false
  /// The sizes of frames that were found, in their order, in pixels.
  private(set) var sizes: [String] = []

  /// - Parameter privateData: an AVCDecoderConfigurationRecord; nil for another one.
  init?(privateData: [UInt8]) {
    guard let configuration = try? AVCDecoderConfiguration(parsing: ByteBuffer(bytes: privateData)),
      configuration.lengthSize == H264NALUnits.lengthSize
    else { return nil }
    self.configuration = configuration
    stated = Set(configuration.sequenceParameterSets + configuration.pictureParameterSets)
    note(configuration.sequenceParameterSets)
  }

  /// Compares those of a frame with the record.
  mutating func check(_ frame: ByteBuffer) {
    for unit in H264NALUnits(frame) where unit.type.isParameterSet && !stated.contains(unit.bytes) {
      haveChanged = true
      if unit.type == .sequenceParameterSet { note([unit.bytes]) }
    }
  }

  private mutating func note(_ sets: [ByteBuffer]) {
    for set in sets {
      guard let parsed = try? H264SequenceParameterSet(parsing: set) else { continue }
      let size = "\(parsed.size.width)x\(parsed.size.height)"
      if sizes.last != size, sizes.count < 10 { sizes.append(size) }
    }
  }

  /// A frame without the sets that the record has: in `avc1` they are nowhere else (ISO/IEC 14496-15, 5.3.3).
  static func removed(from frame: ByteBuffer) -> ByteBuffer {
    var rest = ByteBuffer()
    var hasSets = false
    for unit in H264NALUnits(frame) {
      if unit.type.isParameterSet {
        hasSets = true
      } else {
        H264NALUnits.append(unit.bytes, to: &rest)
      }
    }
    return hasSets && rest.readableBytes > 0 ? rest : frame
  }
}
