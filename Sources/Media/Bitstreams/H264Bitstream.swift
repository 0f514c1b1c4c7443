internal import Bitstream
package import NIOCore

/// Frames of H.264 (ITU-T H.264), in the form of `H264NALUnits`.
package enum H264Bitstream: VideoBitstream {
  package static func header(of frame: ByteBuffer) -> VideoHeader? {
    (try? H264FrameHeader(parsing: frame)).map(VideoHeader.init)
  }

  package static func obstacle(toSending keyframe: ByteBuffer) -> String? {
    guard let parameters = AVCDecoderConfiguration(keyframe: keyframe)?.parameters else { return nil }
    if parameters.bitDepth > 8 { return "its video has \(parameters.bitDepth) bits a sample" }
    if parameters.chromaFormat != 1 { return "the colours of its video are not at half the width and height (4:2:0)" }
    return (parameters.reorderedFrames ?? 0) > 0 ? FrameHeader.reordering : nil
  }

  package static func profile(of keyframe: ByteBuffer) -> String? {
    (try? H264FrameHeader(parsing: keyframe))?.parameters?.codecString
  }

  /// The parameter sets of a keyframe, as many of them as have space. Those that are left out are in the frame, as all are.
  package static func codecPrivate(of keyframe: ByteBuffer, maximumLength: Int) -> ByteBuffer? {
    guard let all = AVCDecoderConfiguration(keyframe: keyframe) else { return nil }
    let encoded = all.encoded
    if encoded.readableBytes <= maximumLength { return encoded }
    return AVCDecoderConfiguration(
      sequenceParameterSets: Array(all.sequenceParameterSets.prefix(1)),
      pictureParameterSets: Array(all.pictureParameterSets.prefix(1)))?.encoded
  }

  package static var needsCodecPrivate: Bool { true }

  package static func framing(codecPrivate: [UInt8]) -> (any VideoFraming)? { H264Framing(codecPrivate: codecPrivate) }
}

/// Brings the frames of an H.264 track in Matroska into the form of `EncodedFrame`: lengths of 4 bytes, no delimiters and filler, and
/// parameter sets in each keyframe (ISO/IEC 14496-15, 5.3.4.2; here they may be in CodecPrivate only).
private struct H264Framing: VideoFraming {
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
