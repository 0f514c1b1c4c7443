import Bitstream
import NIOCore

/// Brings the frames of a track of H.264 or H.265 in a file into the form of `EncodedFrame`: lengths of 4 bytes, no delimiters and filler, and
/// parameter sets in each keyframe (ISO/IEC 14496-15, 5.3.4.2 and 8.3.2; in files they may be in the private data only).
struct NALUnitFraming: VideoFraming {
  /// What is known of a NAL unit by its header.
  struct Unit {
    var isKept: Bool
    var isKeyframe: Bool
    /// The bit of the kind of parameter set that it is; 0 for another unit.
    var parameterSet: Int
  }

  /// The bytes of a length: 1, 2 or 4.
  let lengthSize: Int
  /// The parameter sets of the private data, with lengths of 4 bytes.
  let parameterSets: ByteBuffer
  /// The bits of the kinds of parameter sets that a keyframe needs.
  let kinds: Int
  /// Reads the header of a NAL unit; nil if it has none.
  let unit: @Sendable (ByteBuffer) -> Unit?

  /// Converts a frame; nil if its lengths do not add up. A frame that is in the form already is returned as it is.
  func frame(_ stored: ByteBuffer) -> ByteBuffer? {
    var rest = stored
    var frame = ByteBuffer()
    var isSame = lengthSize == NALUnits.lengthSize
    var isKeyframe = false
    var sets = 0
    while rest.readableBytes > 0 {
      guard let length = readLength(&rest), let bytes = rest.readSlice(length: length), let unit = unit(bytes) else {
        return nil
      }
      isKeyframe = isKeyframe || unit.isKeyframe
      sets |= unit.parameterSet
      if isSame, unit.isKept { continue }
      if isSame {
        // The first unit that is left out: those before it are kept.
        isSame = false
        let kept = stored.readableBytes - rest.readableBytes - lengthSize - length
        if let before = stored.getSlice(at: stored.readerIndex, length: kept) { frame.writeImmutableBuffer(before) }
      } else if unit.isKept {
        NALUnits.append(bytes, to: &frame)
      }
    }
    if isKeyframe, sets != kinds {
      var whole = parameterSets
      whole.writeImmutableBuffer(isSame ? stored : frame)
      return whole
    }
    return isSame ? stored : frame
  }

  private func readLength(_ rest: inout ByteBuffer) -> Int? {
    switch lengthSize {
    case 1: rest.readInteger(as: UInt8.self).map(Int.init)
    case 2: rest.readInteger(as: UInt16.self).map(Int.init)
    default: rest.readInteger(as: UInt32.self).map(Int.init)
    }
  }
}
