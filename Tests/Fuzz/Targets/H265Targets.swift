import Bitstream
import BotPeer
import Media
import NIOCore
import PeerEngine
import RTP

/// RTP payloads of H.265, its parameter sets, slice headers, and the record with which files store them.
enum H265Targets {
  /// Parses the input as one payload, and then as packets.
  static func packets(_ input: [UInt8]) throws(InvariantViolation) {
    try ReceiverTarget.run(input, H265Receiver.self, describes: true) { frame, isDecodable throws(InvariantViolation) in
      try require(frame.size == nil || frame.dependency.isKeyframe, "A delta frame has a size.")
      if isDecodable { try check(frame) }
      try packetize(frame.payload)
    }
  }

  private static func check(_ frame: H265FrameAssembler.Frame) throws(InvariantViolation) {
    guard let header = try? H265FrameHeader(parsing: frame.payload) else {
      throw InvariantViolation("A decodable frame cannot be parsed.")
    }
    try require(header.isKeyframe == frame.dependency.isKeyframe, "A frame is taken for another kind.")
    try require(frame.order != nil, "A whole frame has no place in the order.")
    try require(
      header.size?.width == frame.size?.width && header.size?.height == frame.size?.height,
      "A keyframe has another size than its parameter sets.")
    guard header.isKeyframe else { return }
    try require(HEVCDecoderConfiguration(keyframe: frame.payload) != nil, "A keyframe has no parameter sets.")
  }

  private static func packetize(_ frame: ByteBuffer) throws(InvariantViolation) {
    let payloads = H265Packetizer(maximumPayloadSize: 100).packetize(frame: frame)
    let sent = NALUnits(frame).filter { H265NALUnit($0).map { $0.isValid && $0.type.isSent } ?? false }
    try ReceiverTarget.join(payloads, H265FrameFormat.self, sent: sent)
  }

  /// Parses the input as one parameter set, and then as parameter sets, each after its length.
  static func parameterSets(_ input: [UInt8]) throws(InvariantViolation) {
    let whole = ByteBuffer(bytes: input)
    if let set = try? H265VideoParameterSet(parsing: whole) {
      try require(set.id < 16 && (1...7).contains(set.temporalLayers), "A limit is exceeded.")
    }
    if let set = try? H265PictureParameterSet(parsing: whole) {
      try require(set.id < 64 && set.sequenceParameterSetID < 16, "A limit is exceeded.")
    }
    if let set = try? H265SequenceParameterSet(parsing: whole) { try check(set) }
    var (cursor, sets) = (InputCursor(input), H265ParameterSets())
    while !cursor.isAtEnd { sets.insert(cursor.counted()) }
    for id in 0..<UInt8(64) {
      try require(
        sets.units(for: id) == nil || sets.sequence(for: id) != nil, "A parameter set is known in one form only.")
    }
    try require(
      sets.all(of: .videoParameterSet).count <= 16 && sets.all(of: .pictureParameterSet).count <= 64,
      "There are more sets than ids.")
  }

  private static func check(_ set: H265SequenceParameterSet) throws(InvariantViolation) {
    try require(
      (1...set.codedSize.width).contains(set.size.width) && (1...set.codedSize.height).contains(set.size.height),
      "A size is not that of a part of the coded frame.")
    try require((4...16).contains(set.pictureOrderCountBits), "A picture order count has an impossible length.")
    try require(set.reorderedFrames < 16 && set.bufferedFrames <= 16, "More frames are reordered than can be stored.")
    try require((8...16).contains(set.bitDepth) && set.chromaFormat <= 3, "A format is impossible.")
    try require(set.codecString.utf8.count <= 48, "The text of a codec is too long.")
  }

  /// Parses parameter sets and slices, each after its length, in any order.
  static func sliceHeaders(_ input: [UInt8]) throws(InvariantViolation) {
    var (cursor, sets, counter) = (InputCursor(input), H265ParameterSets(), H265PictureOrderCounter())
    while !cursor.isAtEnd {
      let unit = cursor.counted()
      if sets.insert(unit) { continue }
      guard let header = try? H265SliceHeader(parsing: unit, sets: sets) else { continue }
      guard let start = try? H265SliceHeader(parsing: unit) else {
        throw InvariantViolation("A slice header has fewer fields than its beginning.")
      }
      try require(
        start.isFirst == header.isFirst && start.pictureParameterSetID == header.pictureParameterSetID,
        "The fields of a slice header depend on what follows.")
      guard let picture = header.picture, let parameters = sets.sequence(for: header.pictureParameterSetID) else {
        continue
      }
      try require(
        Int(picture.orderCount) < 1 << Int(parameters.pictureOrderCountBits), "A picture order count is out of range.")
      let count = counter.add(header, parameters)?.count
      try require(
        count.map { $0 & (1 << Int64(parameters.pictureOrderCountBits) - 1) == Int64(picture.orderCount) } ?? false,
        "A picture order count does not have its lowest bits.")
    }
  }

  static func configuration(_ input: [UInt8]) throws(InvariantViolation) {
    guard let configuration = try? HEVCDecoderConfiguration(parsing: ByteBuffer(bytes: input)) else { return }
    guard let again = try? HEVCDecoderConfiguration(parsing: configuration.encoded) else {
      throw InvariantViolation("An hvcC record that was written cannot be read.")
    }
    try require(
      again.units == configuration.units && again.encoded == configuration.encoded,
      "An hvcC record does not round-trip.")
    let sets =
      configuration.videoParameterSets + configuration.sequenceParameterSets + configuration.pictureParameterSets
    try require(
      Array(NALUnits(configuration.units)) == sets, "The parameter sets of an hvcC record are no NAL units.")
  }
}
