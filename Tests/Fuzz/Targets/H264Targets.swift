import Bitstream
import BotPeer
import Media
import NIOCore
import PeerEngine
import RTP

/// RTP payloads of H.264, its parameter sets, slice headers, and the record with which files store them.
enum H264Targets {
  /// Parses the input as one payload, and then as packets: a byte of flags, a length, the payload.
  static func packets(_ input: [UInt8]) throws(InvariantViolation) {
    let whole = ByteBuffer(bytes: input)
    _ = (H264Receiver.keyframeStart(in: whole), H264Receiver.startsFrame(whole))

    var (cursor, receiver, timestamp) = (InputCursor(input), H264Receiver(), UInt32(0))
    let now = MonotonicInstant.now
    var hasKeyframe = false
    while !cursor.isAtEnd {
      let flags = cursor.byte()
      let descriptor = flags & 0x40 != 0 ? Array(cursor.counted().readableBytesView) : nil
      let payload = cursor.counted()
      _ = (H264Receiver.keyframeStart(in: payload), H264Receiver.startsFrame(payload))
      if flags & 2 != 0 { timestamp &+= 3_000 }
      if flags & 0x80 != 0 { receiver.setDescribed([payload]) }
      receiver.addLost(Int(flags >> 2 & 3))
      receiver.add(
        ReceivedPacket(
          payload: payload, timestamp: timestamp, marker: flags & 1 != 0, arrival: now,
          dependencyDescriptor: descriptor))
      if flags & 0x10 != 0 { receiver.finish() }
      if flags & 0x20 != 0 { receiver.restart() }
      if flags & 0x30 != 0 { hasKeyframe = hasKeyframe && flags & 0x20 == 0 }
      while let (frame, isDecodable) = receiver.popFrame() {
        hasKeyframe = hasKeyframe || frame.dependency.isKeyframe
        try require(!isDecodable || hasKeyframe, "A frame before the first keyframe is reported as decodable.")
        try require(!isDecodable || frame.dependency.isComplete, "A damaged frame is reported as decodable.")
        try require(
          (frame.size != nil) == frame.dependency.isKeyframe, "A delta frame has a size, or a keyframe has none.")
        try require(frame.payload.readableBytes <= FrameLimits.maximumSize, "A frame is too large.")
        if isDecodable { try check(frame) }
        try packetize(frame.payload)
      }
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

  /// Splits a frame into packets and joins them again.
  private static func packetize(_ frame: ByteBuffer) throws(InvariantViolation) {
    var units: [ByteBuffer] = []
    var open = ByteBuffer()
    for payload in H264Packetizer(maximumPayloadSize: 100).packetize(frame: frame) {
      try require(payload.readableBytes <= 100, "A piece of a frame is too large.")
      switch try? H264Payload(parsing: payload) {
      case .unit(let unit): units.append(unit.bytes)
      case .aggregation(let several): units += several.map(\.bytes)
      case .fragment(let fragment):
        if fragment.isFirst { open = ByteBuffer(bytes: [fragment.header]) }
        open.writeImmutableBuffer(fragment.bytes)
        if fragment.isLast { units.append(open) }
      case nil: throw InvariantViolation("A piece of a frame cannot be read.")
      }
    }
    let sent = H264NALUnits(frame).filter { $0.isValid && (1...23).contains($0.type.rawValue) }.map(\.bytes)
    try require(units == sent, "A packetized frame does not round-trip.")
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
    // Its slices tell where the bottom field of a frame is shown.
    let picture = try? H264PictureParameterSet(parsing: ByteBuffer(bytes: [0x68, 0xD8]))
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
