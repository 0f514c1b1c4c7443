import Bitstream
import Media
import NIOCore

/// The parameter sets of a track of H.264 or H.265: whether one record is enough for all of its frames, and frames without them. Pure.
struct ParameterSets {
  private let bitstream: any VideoBitstream.Type
  private let stated: Set<ByteBuffer>
  /// The record that says that frames have no parameter sets.
  let privateData: [UInt8]
  /// Whether a frame had a set that the record does not have.
  private(set) var haveChanged = false
  /// The sizes of frames that were found, in their order, in pixels.
  private(set) var sizes: [String] = []

  /// - Parameter privateData: the record of the codec; nil for another one.
  init?(_ bitstream: (any VideoBitstream.Type)?, privateData: [UInt8]) {
    guard let bitstream, let stated = bitstream.statedParameterSets(codecPrivate: ByteBuffer(bytes: privateData)),
      stated.lengthSize == NALUnits.lengthSize
    else { return nil }
    self.bitstream = bitstream
    self.stated = Set(stated.units)
    self.privateData = Array(stated.complete.readableBytesView)
    for unit in stated.units { note(bitstream.parameterSet(unit)) }
  }

  /// Compares those of a frame with the record.
  mutating func check(_ frame: ByteBuffer) {
    for unit in NALUnits(frame) {
      guard let set = bitstream.parameterSet(unit), !stated.contains(unit) else { continue }
      haveChanged = true
      note(set)
    }
  }

  private mutating func note(_ set: VideoParameterSet?) {
    guard let size = set?.size else { return }
    if sizes.last != size.description, sizes.count < 10 { sizes.append(size.description) }
  }

  /// A frame without the sets that the record has: in `avc1` and `hvc1` they are nowhere else (ISO/IEC 14496-15, 5.3.3 and 8.3.3).
  func removed(from frame: ByteBuffer) -> ByteBuffer {
    var rest = ByteBuffer()
    var hasSets = false
    for unit in NALUnits(frame) {
      if bitstream.parameterSet(unit) != nil {
        hasSets = true
      } else {
        NALUnits.append(unit, to: &rest)
      }
    }
    return hasSets && rest.readableBytes > 0 ? rest : frame
  }
}
