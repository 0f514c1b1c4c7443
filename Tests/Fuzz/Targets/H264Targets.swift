import Bitstream
import BotPeer
import Media
import NIOCore
import PeerEngine
import RTP

/// RTP payloads of H.264, its parameter sets, slice headers, and the record with which files store them.
enum H264Targets {
  /// Parses the input as one payload, and then as packets.
  static func packets(_ input: [UInt8]) throws(InvariantViolation) {
    try ReceiverTarget.run(input, H264Receiver.self, describes: true) { frame, isDecodable throws(InvariantViolation) in
      try require(frame.size == nil || frame.dependency.isKeyframe, "A delta frame has a size.")
      if isDecodable { try check(frame) }
      try packetize(frame.payload)
    }
  }

  private static func check(_ frame: H264FrameAssembler.Frame) throws(InvariantViolation) {
    guard let header = try? H264FrameHeader(parsing: frame.payload) else {
      throw InvariantViolation("A decodable frame cannot be parsed.")
    }
    try require(header.isKeyframe == frame.dependency.isKeyframe, "A frame is taken for another kind.")
    try require(
      header.size?.width == frame.size?.width && header.size?.height == frame.size?.height,
      "A keyframe has another size than its parameter sets.")
    guard header.isKeyframe else { return }
    try require(AVCDecoderConfiguration(keyframe: frame.payload) != nil, "A keyframe has no parameter sets.")
  }

  private static func packetize(_ frame: ByteBuffer) throws(InvariantViolation) {
    let payloads = H264Packetizer(maximumPayloadSize: 100).packetize(frame: frame)
    let sent = H264NALUnits(frame).filter { $0.isValid && (1...23).contains($0.type.rawValue) }.map(\.bytes)
    try ReceiverTarget.join(payloads, H264FrameFormat.self, sent: sent)
  }

  static func sequenceParameterSet(_ input: [UInt8]) throws(InvariantViolation) {
    guard let set = try? H264SequenceParameterSet(parsing: ByteBuffer(bytes: input)) else { return }
    try require(set.id < 32 && set.maximumReferences <= 16, "A limit is exceeded.")
    try require(
      (1...set.codedSize.width).contains(set.size.width) && (1...set.codedSize.height).contains(set.size.height),
      "A size is not that of a part of the coded frame.")
    try require((4...16).contains(set.log2MaximumFrameNumber), "frame_num has an impossible length.")
    try require((set.reorderedFrames ?? 0) <= 16, "More frames are reordered than can be stored.")
    try require(set.codecString.utf8.count == 11, "A codec has a text of another length.")
  }

  /// Parses the input as a picture parameter set, and then as parameter sets and slices, each after its length.
  static func pictureParameterSets(_ input: [UInt8]) throws(InvariantViolation) {
    if let set = try? H264PictureParameterSet(parsing: ByteBuffer(bytes: input)) {
      try require(set.sequenceParameterSetID < 32, "A limit is exceeded.")
    }
    var (cursor, sets) = (InputCursor(input), H264ParameterSets())
    while !cursor.isAtEnd { sets.insert(cursor.counted()) }
    for id in 0...UInt8.max {
      try require(
        (sets.units(for: id) == nil) == (sets.sequence(for: id) == nil), "A parameter set is known in one form only.")
    }
  }

  /// Parses a sequence parameter set after its length, and slices, each after its length.
  static func sliceHeaders(_ input: [UInt8]) throws(InvariantViolation) {
    var cursor = InputCursor(input)
    guard let set = try? H264SequenceParameterSet(parsing: cursor.counted()) else { return }
    // Its slices tell where the bottom field of a frame is shown, state weights and count redundant pictures.
    let picture = try? H264PictureParameterSet(parsing: ByteBuffer(bytes: [0x68, 0xDA, 0xDE, 0x60]))
    try require(picture?.references?.countsRedundantPictures == true, "A parameter set is not read.")
    var (counter, timestamper) = (H264PictureOrderCounter(), PresentationTimestamper())
    let start = MonotonicInstant.now
    var (given, taken) = (0, 0)
    while !cursor.isAtEnd {
      let unit = cursor.counted()
      guard let header = try? H264SliceHeader(parsing: unit, parameters: set, picture: picture) else { continue }
      let now = start + .milliseconds(33 * given)
      timestamper.add(frame(given, at: now), counter.add(header, set), now: now)
      given += 1
      while let frame = timestamper.popFrame() { try check(frame, number: &taken) }
      try require(given - taken <= PresentationTimestamper.maximumFrames, "Too many frames are held.")
      try require(
        header.frameNumber.map { Int($0) < 1 << Int(set.log2MaximumFrameNumber) } ?? false, "frame_num is out of range."
      )
      guard let start = try? H264SliceHeader(parsing: unit) else {
        throw InvariantViolation("A slice header has fewer fields than its beginning.")
      }
      try require(
        start.firstMacroblock == header.firstMacroblock
          && start.pictureParameterSetID == header.pictureParameterSetID,
        "The fields of a slice header depend on what follows.")
    }
    timestamper.finish()
    while let frame = timestamper.popFrame() { try check(frame, number: &taken) }
    try require(taken == given, "Frames are missing.")
  }

  /// A frame whose payload has its number.
  private static func frame(_ number: Int, at now: MonotonicInstant) -> EncodedFrame {
    EncodedFrame(
      owner: ParticipantID("sender"), codec: .h264, time: MediaTime(ticks: Int64(number) * 3_000, rate: 90_000),
      payload: ByteBuffer(integer: UInt32(truncatingIfNeeded: number)), header: .unreadable, isKeyframe: false,
      arrived: now)
  }

  private static func check(_ frame: EncodedFrame, number: inout Int) throws(InvariantViolation) {
    try require(
      frame.payload.getInteger(at: frame.payload.readerIndex, as: UInt32.self) == UInt32(truncatingIfNeeded: number),
      "Frames come in another order than that of decoding.")
    number += 1
  }

  static func configuration(_ input: [UInt8]) throws(InvariantViolation) {
    guard let configuration = try? AVCDecoderConfiguration(parsing: ByteBuffer(bytes: input)) else { return }
    guard let again = try? AVCDecoderConfiguration(parsing: configuration.encoded) else {
      throw InvariantViolation("An avcC record that was written cannot be read.")
    }
    try require(
      again.sequenceParameterSets == configuration.sequenceParameterSets
        && again.pictureParameterSets == configuration.pictureParameterSets && again.encoded == configuration.encoded,
      "An avcC record does not round-trip.")
    let units = Array(H264NALUnits(configuration.units)).map(\.bytes)
    try require(
      units == configuration.sequenceParameterSets + configuration.pictureParameterSets,
      "The parameter sets of an avcC record are no NAL units.")
  }
}

/// RED, and dependency descriptors.
enum DescriptorTargets {
  static func redundantAudio(_ input: [UInt8]) throws(InvariantViolation) {
    let whole = ByteBuffer(bytes: input)
    guard let audio = try? RedundantAudio(parsing: whole) else { return }
    try require(audio.copies.count < RedundantAudio.maximumBlocks, "There are too many blocks.")
    let again = written { audio.write(into: &$0) }
    try require(again == whole && (try? RedundantAudio(parsing: again)) == audio, "A RED payload does not round-trip.")
  }

  /// Parses descriptors, each after its length; each uses the structure of the last one that has one.
  static func dependencies(_ input: [UInt8]) throws(InvariantViolation) {
    var (cursor, structure) = (InputCursor(input), FrameDependencyStructure?.none)
    while !cursor.isAtEnd {
      guard let descriptor = try? DependencyDescriptor(parsing: cursor.counted(), structure: structure) else {
        continue
      }
      structure = descriptor.structure ?? structure
      guard let structure else { throw InvariantViolation("A descriptor has no structure.") }
      try require(
        (1...FrameDependencyStructure.maximumTemplates).contains(structure.templates.count),
        "There are too many templates.")
      try require((1...32).contains(structure.decodeTargets), "There are too many decode targets.")
      try require(structure.chains <= structure.decodeTargets, "There are too many chains.")
      try require(
        descriptor.dependencies.indications.count == structure.decodeTargets
          && descriptor.dependencies.chainDifferences.count == structure.chains
          && descriptor.dependencies.frameDifferences.allSatisfy { (1...4_096).contains($0) },
        "A frame has impossible dependencies.")
    }
  }
}
