import Bitstream
package import NIOCore

/// Temporal units of AV1 in the form of `AV1OBUs`.
package enum AV1Bitstream: VideoBitstream {
  package static func header(of frame: ByteBuffer) -> VideoHeader? {
    guard let unit = try? AV1TemporalUnit(parsing: frame) else { return nil }
    let size = unit.isKeyframe ? unit.size.map { VideoSize(width: $0.width, height: $0.height) } : nil
    if unit.isKeyframe, size == nil { return nil }
    return VideoHeader(isKeyframe: unit.isKeyframe, size: size, isShown: unit.isShown)
  }

  /// The only profile that is negotiated has colours at half the width and height, and every decoder of it 8 and 10 bits.
  package static func obstacle(toSending keyframe: ByteBuffer) -> String? {
    guard let sequence = AV1DecoderConfiguration(keyframe: keyframe)?.sequence, sequence.profile > 0 else { return nil }
    return "its video is AV1 of profile \(sequence.profile)"
  }

  package static func profile(of keyframe: ByteBuffer) -> String? {
    AV1DecoderConfiguration(keyframe: keyframe)?.sequence.codecString
  }

  package static func codecPrivate(of keyframe: ByteBuffer, maximumLength: Int) -> ByteBuffer? {
    guard let record = AV1DecoderConfiguration(keyframe: keyframe)?.encoded, record.readableBytes <= maximumLength
    else {
      return nil
    }
    return record
  }

  package static func framing(codecPrivate: [UInt8]) -> (any VideoFraming)? { AV1Framing(codecPrivate: codecPrivate) }
}

/// Brings the temporal units of an AV1 track in a file into the form of `EncodedFrame`: each OBU with its size, no temporal delimiters,
/// padding and tile lists, and a sequence header in each keyframe (AV1 in ISOBMFF, 2.4; in Matroska it may be in CodecPrivate only).
private struct AV1Framing: VideoFraming {
  /// The OBUs of CodecPrivate; empty without usable ones.
  private let units: ByteBuffer

  /// A track without private data has its sequence headers in its frames: so do IVF files.
  init(codecPrivate: [UInt8]) {
    units = (try? AV1DecoderConfiguration(parsing: ByteBuffer(bytes: codecPrivate)))?.units ?? ByteBuffer()
  }

  func frame(_ stored: ByteBuffer) -> ByteBuffer? {
    var rest = stored
    var frame = ByteBuffer()
    var count = 0
    var hasSequence = false
    // Whether it is a keyframe without a sequence header is known from its first frame header.
    var needsSequence = false
    var isFirst = true
    while rest.readableBytes > 0 {
      count += 1
      guard count <= AV1TemporalUnit.maximumOBUs, let obu = try? AV1OBU(parsing: &rest) else { return nil }
      hasSequence = hasSequence || obu.type == .sequenceHeader
      if obu.type.beginsFrame, isFirst {
        isFirst = false
        let start = try? AV1FrameHeader.Start(parsing: obu.payload)
        needsSequence = !hasSequence && start?.kind == .key && start?.isShown == true
      }
      if obu.type.isKept { obu.write(into: &frame) }
    }
    guard !isFirst else { return nil }
    guard needsSequence else { return frame }
    var whole = units
    whole.writeImmutableBuffer(frame)
    return whole
  }
}
