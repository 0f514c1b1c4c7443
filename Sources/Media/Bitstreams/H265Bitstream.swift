package import Bitstream
package import NIOCore

/// Frames of H.265 (ITU-T H.265), in the form of `NALUnits`.
package enum H265Bitstream: VideoBitstream {
  package static func header(of frame: ByteBuffer) -> VideoHeader? {
    guard let header = try? H265FrameHeader(parsing: frame) else { return nil }
    return VideoHeader(
      isKeyframe: header.isKeyframe, size: header.size.map { VideoSize(width: $0.width, height: $0.height) },
      isShown: header.picture?.isShown ?? true, isSkippedLeading: header.isSkippedLeading,
      leading: leading(after: header.type))
  }

  /// Returns which frames may follow a keyframe and be shown before it.
  package static func leading(after type: H265NALUnit.Kind) -> VideoHeader.LeadingFrames {
    switch type {
    case .cleanRandomAccess: .any
    case .idr: .decodable
    default: H265NALUnit.Kind.brokenLink.contains(type.rawValue) ? .decodable : .none
    }
  }

  package static func obstacle(toSending keyframe: ByteBuffer) -> String? {
    guard let parameters = HEVCDecoderConfiguration(keyframe: keyframe)?.parameters else { return nil }
    // Not every receiver of H.265 decodes Main 10.
    if parameters.bitDepth > 8 { return "its video has \(parameters.bitDepth) bits a sample" }
    if parameters.chromaFormat != 1 { return "the colours of its video are not at half the width and height (4:2:0)" }
    return parameters.reorderedFrames > 0 ? FrameHeader.reordering : nil
  }

  package static func profile(of keyframe: ByteBuffer) -> String? {
    HEVCDecoderConfiguration(keyframe: keyframe)?.parameters.codecString
  }

  /// The parameter sets of a keyframe, as many of them as have space. Those that are left out are in the frame, as all are.
  package static func codecPrivate(of keyframe: ByteBuffer, maximumLength: Int) -> ByteBuffer? {
    guard let all = HEVCDecoderConfiguration(keyframe: keyframe) else { return nil }
    let encoded = all.encoded
    if encoded.readableBytes <= maximumLength { return encoded }
    let first = HEVCDecoderConfiguration(
      videoParameterSets: Array(all.videoParameterSets.prefix(1)),
      sequenceParameterSets: Array(all.sequenceParameterSets.prefix(1)),
      pictureParameterSets: Array(all.pictureParameterSets.prefix(1)))?.encoded
    return first.flatMap { $0.readableBytes <= maximumLength ? $0 : nil }
  }

  package static func reorderedFrames(keyframe: ByteBuffer) -> Int? {
    HEVCDecoderConfiguration(keyframe: keyframe)?.parameters.reorderedFrames
  }

  package static func hidesLoss(of frame: ByteBuffer) -> Bool { true }

  package static var needsCodecPrivate: Bool { true }

  package static func statedParameterSets(codecPrivate: ByteBuffer) -> StatedParameterSets? {
    guard let record = try? HEVCDecoderConfiguration(parsing: codecPrivate) else { return nil }
    return StatedParameterSets(
      units: record.videoParameterSets + record.sequenceParameterSets + record.pictureParameterSets,
      complete: record.encoded(isComplete: true), lengthSize: record.lengthSize)
  }

  package static func parameterSet(_ unit: ByteBuffer) -> VideoParameterSet? {
    guard let type = H265NALUnit(unit)?.type, type.isParameterSet else { return nil }
    guard type == .sequenceParameterSet, let size = (try? H265SequenceParameterSet(parsing: unit))?.size else {
      return VideoParameterSet()
    }
    return VideoParameterSet(size: VideoSize(width: size.width, height: size.height))
  }

  package static func framing(codecPrivate: [UInt8]) -> (any VideoFraming)? {
    guard let record = try? HEVCDecoderConfiguration(parsing: ByteBuffer(bytes: codecPrivate)) else { return nil }
    return NALUnitFraming(lengthSize: record.lengthSize, parameterSets: record.units, kinds: 0b111) { bytes in
      guard let unit = H265NALUnit(bytes) else { return nil }
      let set = unit.isKept && unit.type.isParameterSet ? 1 << Int(unit.type.rawValue & 0x03) : 0
      return NALUnitFraming.Unit(
        isKept: unit.isKept, isKeyframe: unit.isKept && unit.type.isKeyframe, parameterSet: set)
    }
  }
}
