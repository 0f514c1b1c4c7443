import Bitstream
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

  package static func reorderedFrames(keyframe: ByteBuffer) -> Int? {
    AVCDecoderConfiguration(keyframe: keyframe)?.parameters.reorderedFrames
  }

  package static func hidesLoss(of frame: ByteBuffer) -> Bool {
    // What cannot be parsed may have been a reference.
    (try? H264FrameHeader(parsing: frame))?.isReference ?? true
  }

  package static var needsCodecPrivate: Bool { true }

  package static func statedParameterSets(codecPrivate: ByteBuffer) -> StatedParameterSets? {
    guard let record = try? AVCDecoderConfiguration(parsing: codecPrivate) else { return nil }
    return StatedParameterSets(
      units: record.sequenceParameterSets + record.pictureParameterSets, complete: codecPrivate,
      lengthSize: record.lengthSize)
  }

  package static func parameterSet(_ unit: ByteBuffer) -> VideoParameterSet? {
    guard let type = H264NALUnit(unit)?.type, type.isParameterSet else { return nil }
    guard type == .sequenceParameterSet, let size = (try? H264SequenceParameterSet(parsing: unit))?.size else {
      return VideoParameterSet()
    }
    return VideoParameterSet(size: VideoSize(width: size.width, height: size.height))
  }

  package static func framing(codecPrivate: [UInt8]) -> (any VideoFraming)? {
    guard let record = try? AVCDecoderConfiguration(parsing: ByteBuffer(bytes: codecPrivate)) else { return nil }
    return NALUnitFraming(lengthSize: record.lengthSize, parameterSets: record.units, kinds: 0b11) { bytes in
      guard let unit = H264NALUnit(bytes) else { return nil }
      let set = unit.type == .sequenceParameterSet ? 0b01 : unit.type == .pictureParameterSet ? 0b10 : 0
      return NALUnitFraming.Unit(isKept: unit.type.isKept, isKeyframe: unit.type == .idrSlice, parameterSet: set)
    }
  }
}
