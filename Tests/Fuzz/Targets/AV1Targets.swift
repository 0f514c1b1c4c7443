import Bitstream
import BotPeer
import Media
import NIOCore
import PeerEngine
import RTP

/// RTP payloads of AV1, its temporal units and sequence headers, and the record with which files store them.
enum AV1Targets {
  /// Parses the input as one payload, and then as packets.
  static func packets(_ input: [UInt8]) throws(InvariantViolation) {
    try ReceiverTarget.run(input, AV1Receiver.self) { frame, isDecodable throws(InvariantViolation) in
      if isDecodable { try check(frame) }
      if frame.dependency.isComplete { try packetize(frame.payload) }
    }
  }

  private static func check(_ frame: AV1FrameAssembler.Frame) throws(InvariantViolation) {
    var rest = frame.payload
    while rest.readableBytes > 0 {
      let hasSize = rest.getInteger(at: rest.readerIndex, as: UInt8.self).map { $0 & AV1OBU.sizeBit != 0 } ?? false
      guard hasSize, let obu = try? AV1OBU(parsing: &rest) else {
        throw InvariantViolation("A decodable frame has an OBU without a size, or a damaged one.")
      }
      try require(obu.type.isKept, "A decodable frame has an OBU that Matroska leaves out.")
    }
    guard frame.dependency.isKeyframe else { return }
    guard let unit = try? AV1TemporalUnit(parsing: frame.payload) else {
      throw InvariantViolation("A keyframe cannot be parsed.")
    }
    try require(unit.isKeyframe && unit.isShown, "A frame is taken for a keyframe.")
    try require(
      unit.size?.width == frame.size?.width && unit.size?.height == frame.size?.height,
      "A keyframe has another size than its headers.")
    try require(AV1DecoderConfiguration(keyframe: frame.payload) != nil, "A keyframe has no sequence header.")
  }

  /// Splits a temporal unit into packets and joins them again.
  private static func packetize(_ unit: ByteBuffer) throws(InvariantViolation) {
    var assembler = AV1FrameAssembler()
    let payloads = AV1Packetizer(maximumPayloadSize: 100).packetize(frame: unit)
    for (position, payload) in payloads.enumerated() {
      try require(payload.readableBytes <= 100, "A piece of a frame is too large.")
      assembler.add(
        ReceivedPacket(
          payload: payload, timestamp: 0, marker: position == payloads.count - 1, arrival: MonotonicInstant.now))
    }
    let joined = assembler.popFrame()?.payload
    try require(joined == unit, "A packetized frame does not round-trip.")
  }

  /// Parses the input as one temporal unit, and then as temporal units of one stream, each after its length in two bytes.
  static func temporalUnits(_ input: [UInt8]) throws(InvariantViolation) {
    try units(of: ByteBuffer(bytes: input))
    var (cursor, state) = (InputCursor(input), AV1TemporalUnit.State())
    while !cursor.isAtEnd {
      let length = Int(cursor.byte()) << 8 | Int(cursor.byte())
      let bytes = ByteBuffer(bytes: cursor.bytes(length))
      try units(of: bytes)
      guard let unit = try? AV1TemporalUnit(parsing: bytes, after: &state) else { continue }
      try require(unit.spatialLayer < 4, "A limit is exceeded.")
      try require(unit.size.map { $0.width > 0 && $0.height > 0 } ?? true, "A frame is empty.")
      guard unit.isKeyframe else { continue }
      try require(unit.isShown && unit.size != nil && unit.sequence != nil, "A keyframe has no size.")
      let alone = try? AV1TemporalUnit(parsing: bytes)
      try require(
        alone?.isKeyframe == true && alone?.size == unit.size && alone?.sequence == unit.sequence,
        "A keyframe depends on what precedes it.")
    }
  }

  /// Writes the OBUs of a temporal unit and reads them again.
  private static func units(of unit: ByteBuffer) throws(InvariantViolation) {
    let obus = Array(AV1OBUs(unit))
    let again = written { buffer in
      for obu in obus { obu.write(into: &buffer) }
    }
    try require(again.readableBytes == obus.reduce(0) { $0 + $1.byteCount }, "An OBU reports a wrong length.")
    try require(Array(AV1OBUs(again)) == obus, "An OBU does not round-trip.")
  }

  static func sequenceHeader(_ input: [UInt8]) throws(InvariantViolation) {
    let payload = ByteBuffer(bytes: input)
    guard let header = try? AV1SequenceHeader(parsing: payload) else { return }
    try require(header.profile <= 2 && [8, 10, 12].contains(header.bitDepth), "A format is impossible.")
    try require((1...32).contains(header.operatingPoints.count), "There are too many operating points.")
    try require((1...4).contains(header.spatialLayers), "There are too many layers.")
    try require(
      (1...65_536).contains(header.maximumSize.width) && (1...65_536).contains(header.maximumSize.height),
      "A size is impossible.")
    try require(header.codecString.utf8.count == 13, "A codec has a text of another length.")
    try configuration(Array(record(of: header, payload).readableBytesView))
  }

  /// The record of a sequence header.
  private static func record(of header: AV1SequenceHeader, _ payload: ByteBuffer) -> ByteBuffer {
    let keyframe = written { AV1OBU(.sequenceHeader, payload: payload).write(into: &$0) }
    return AV1DecoderConfiguration(keyframe: keyframe)?.encoded ?? ByteBuffer()
  }

  static func configuration(_ input: [UInt8]) throws(InvariantViolation) {
    guard let configuration = try? AV1DecoderConfiguration(parsing: ByteBuffer(bytes: input)) else { return }
    // Lengths of several bytes may be shorter when they are written.
    guard let again = try? AV1DecoderConfiguration(parsing: configuration.encoded) else {
      throw InvariantViolation("An av1C record that was written cannot be read.")
    }
    try require(again == configuration, "An av1C record does not round-trip.")
    try require(
      AV1OBUs(configuration.units).contains { $0.type == .sequenceHeader }, "An av1C record has no sequence header.")
  }
}
