import Bitstream
import NIOCore

/// Brings the frames of an H.264 track in Matroska into the form of `EncodedFrame`: lengths of 4 bytes, no delimiters and filler, and
/// parameter sets in each keyframe (ISO/IEC 14496-15, 5.3.4.2; here they may be in CodecPrivate only).
struct H264Framing {
  private let lengthSize: Int
  /// The parameter sets of CodecPrivate, with lengths of 4 bytes.
  private let parameterSets: ByteBuffer

  /// Nil if CodecPrivate is not an AVCDecoderConfigurationRecord with parameter sets.
  init?(codecPrivate: [UInt8]) {
    guard let configuration = try? AVCDecoderConfiguration(parsing: ByteBuffer(bytes: codecPrivate)) else { return nil }
    lengthSize = configuration.lengthSize
    parameterSets = configuration.units
  }

  /// Converts a frame; nil if its lengths do not add up. A frame that is in the form already is returned as it is.
  func frame(_ stored: ByteBuffer) -> ByteBuffer? {
    var rest = stored
    var frame = ByteBuffer()
    var isSame = lengthSize == H264NALUnits.lengthSize
    var (isKeyframe, hasSequence, hasPicture) = (false, false, false)
    while rest.readableBytes > 0 {
      guard let length = readLength(&rest), let bytes = rest.readSlice(length: length), let unit = H264NALUnit(bytes)
      else { return nil }
      isKeyframe = isKeyframe || unit.type == .idrSlice
      hasSequence = hasSequence || unit.type == .sequenceParameterSet
      hasPicture = hasPicture || unit.type == .pictureParameterSet
      if isSame, unit.type.isKept { continue }
      if isSame {
        // The first unit that is left out: those before it are kept.
        isSame = false
        let kept = stored.readableBytes - rest.readableBytes - lengthSize - length
        if let before = stored.getSlice(at: stored.readerIndex, length: kept) { frame.writeImmutableBuffer(before) }
      } else if unit.type.isKept {
        H264NALUnits.append(bytes, to: &frame)
      }
    }
    if isKeyframe, !hasSequence || !hasPicture {
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
